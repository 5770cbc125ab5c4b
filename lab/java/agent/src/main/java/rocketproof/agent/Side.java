package rocketproof.agent;

import net.bytebuddy.agent.builder.AgentBuilder;

/**
 * What the agent records of one part of RocketMQ: the consumer's client, or the broker.
 *
 * <p>How a side is written. Its advice classes are given by name to {@link Advices}, which never loads them: their code
 * is inlined into RocketMQ's own classes, so it may use RocketMQ's types (compiled against one release, linked with the
 * one that runs), must keep to what all releases have, and may call only public static methods of the agent. Those
 * (hooks) take what advice has in hand. Where releases differ in names or types, hooks take Object and use
 * {@link Reflect}. Every advice says <code>suppress = Throwable.class</code>: the application never sees an exception of
 * ours.
 */
public interface Side {
    /** Adds the transformations of this side. {@link Agent#recorder()} is there already. */
    AgentBuilder install(AgentBuilder builder);
}
