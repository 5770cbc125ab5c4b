package rocketproof.driver;

import org.apache.rocketmq.client.producer.DefaultMQProducer;

/** A producer that sends one {@link Load} and answers {@code sent} and {@code failed}. */
final class Producer {
    private Producer() {
    }

    static void run(Settings settings, Answers answers) throws Exception {
        DefaultMQProducer producer = started(settings);
        answers.say("ready", producer.buildMQClientId());
        send(producer, settings, answers);
        producer.shutdown();
    }

    /** A started producer; settings are {@code namesrv} and {@code instance}. */
    static DefaultMQProducer started(Settings settings) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("rocketproof-producer");
        producer.setNamesrvAddr(settings.text("namesrv"));
        producer.setClientIP("127.0.0.1");
        producer.setInstanceName(settings.text("instance", "producer"));
        producer.setVipChannelEnabled(false);
        producer.setPollNameServerInterval(settings.small("route_ms", 1_000));
        producer.setSendMsgTimeout(3_000);
        producer.start();
        return producer;
    }

    /** Sends a load and answers the command. */
    static void send(DefaultMQProducer producer, Settings command, Answers answers) {
        Object id = command.raw("id");
        try {
            Load load = new Load(command);
            long sent = load.send(producer);
            answers.say(id, new Object[] {"sent", sent, "failed", load.count() - sent});
        } catch (Exception failure) {
            answers.say(id, new Object[] {"error", failure.toString()});
        }
    }
}
