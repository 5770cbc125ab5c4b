package rocketproof.agent.client;

import rocketproof.agent.Event;
import rocketproof.agent.Json;

/** A window (<code>ProcessQueue</code>) of a consumer over a queue. */
public final class Window {
    final Consumer consumer;
    /** The MessageQueue. */
    final Object queue;

    private final byte[] members;

    Window(Consumer consumer, Object queue) {
        this.consumer = consumer;
        this.queue = queue;
        Consumer.Place place = consumer.place(queue);
        members = new Json(256).members(place.members).number("epoch", place.windows.getAndIncrement()).encoded();
    }

    Event event(String kind) {
        return Event.of(kind, members);
    }

    Event event(String kind, long micros) {
        return Event.of(kind, members, micros);
    }

    void record(Event event) {
        consumer.record(event);
    }
}
