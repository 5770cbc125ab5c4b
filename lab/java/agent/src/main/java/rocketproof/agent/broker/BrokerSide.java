package rocketproof.agent.broker;

import static net.bytebuddy.matcher.ElementMatchers.hasSuperType;
import static net.bytebuddy.matcher.ElementMatchers.isPublic;
import static net.bytebuddy.matcher.ElementMatchers.nameStartsWith;
import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.namedOneOf;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;

import net.bytebuddy.agent.builder.AgentBuilder;
import rocketproof.agent.Advices;
import rocketproof.agent.Side;

/**
 * What the agent records of a broker: its life, its members, the offsets it keeps, the messages it stores and delays.
 *
 * <p>Classes that lie elsewhere in 4.x and 5.x are named twice; the one that is not there is passed over.
 */
public final class BrokerSide implements Side {
    private static final String ROCKETMQ = "org.apache.rocketmq.";
    private static final String BROKER = ROCKETMQ + "broker.";

    @Override
    public AgentBuilder install(AgentBuilder builder) {
        return offsets(members(stores(life(builder))));
    }

    private static AgentBuilder life(AgentBuilder builder) {
        String controller = BROKER + "BrokerController";
        builder = Advices.around(builder, controller, "initialize", Life.Initializing.class.getName());
        // A broker in a BrokerContainer starts and stops without its superclass.
        for (String type : new String[] {controller, ROCKETMQ + "container.InnerBrokerController"}) {
            builder = Advices.around(
                    builder, type, named("start").and(takesArguments(0)), Life.Starting.class.getName());
            builder = Advices.around(
                    builder, type, named("shutdown").and(takesArguments(0)), Life.Stopping.class.getName());
        }
        // Who elects: the controller of 5.x, DLedger of 5.x, DLedger of 4.x.
        for (String type : new String[] {
            BROKER + "controller.ReplicasManager", BROKER + "dledger.DLedgerRoleChangeHandler", controller
        }) {
            builder = Advices.around(builder, type, "changeToMaster", Life.ToMaster.class.getName());
            builder = Advices.around(builder, type, "changeToSlave", Life.ToSlave.class.getName());
        }
        String files = ROCKETMQ + "common.ConfigManager";
        builder = Advices.around(builder, files, named("load").and(takesArguments(0)), Life.Loading.class.getName());
        return Advices.around(
                builder, files, named("persist").and(takesArguments(0)), Life.Persisting.class.getName());
    }

    private static AgentBuilder stores(AgentBuilder builder) {
        builder = Advices.around(
                builder,
                ROCKETMQ + "store.CommitLog$DefaultAppendMessageCallback",
                "doAppend",
                Stores.Appending.class.getName());
        for (String place : new String[] {"store.", "broker."}) {
            builder = Advices.around(
                    builder,
                    ROCKETMQ + place + "schedule.ScheduleMessageService",
                    namedOneOf("messageTimeup", "messageTimeUp"),
                    Stores.TimeUp.class.getName());
        }
        return builder;
    }

    private static AgentBuilder members(AgentBuilder builder) {
        String group = BROKER + "client.ConsumerGroupInfo";
        builder = Advices.around(builder, group, "updateChannel", Members.Updating.class.getName());
        builder = Advices.around(builder, group, "unregisterChannel", Members.Leaving.class.getName());
        builder = Advices.around(builder, group, "doChannelCloseEvent", Members.Leaving.class.getName());
        return Advices.around(
                builder, BROKER + "client.ConsumerManager", "scanNotActiveChannel", Members.Scanning.class.getName());
    }

    private static AgentBuilder offsets(AgentBuilder builder) {
        String manager = BROKER + "offset.ConsumerOffsetManager";
        // Those for LMQ and for RocksDB override these two, and only the former calls its superclass.
        builder = builder.type(nameStartsWith(BROKER).and(hasSuperType(named(manager))))
                .transform(Advices.advice(
                        named("commitOffset").and(isPublic()).and(takesArguments(5)),
                        Offsets.Committing.class.getName()))
                .transform(Advices.advice(named("assignResetOffset"), Offsets.Assigning.class.getName()));
        builder = Advices.around(
                builder,
                manager,
                namedOneOf(
                        "removeOffset",
                        "cleanOffset",
                        "cleanOffsetByTopic",
                        "cloneOffset",
                        "scanUnsubscribedTopic",
                        "queryMinOffsetInAllGroup"),
                Offsets.Replacing.class.getName());
        builder = Advices.around(
                builder,
                BROKER + "processor.PullMessageProcessor",
                namedOneOf("processRequest", "tryCommitOffset"),
                Offsets.Pulling.class.getName());
        builder = Advices.around(
                builder,
                BROKER + "client.net.Broker2Client",
                named("resetOffset").and(takesArguments(5)),
                Resets.Ordering.class.getName());
        for (String place : new String[] {"common.", "remoting."}) {
            builder = Advices.around(
                    builder,
                    ROCKETMQ + place + "protocol.body.ResetOffsetBody",
                    "setOffsetTable",
                    Resets.Counting.class.getName());
        }
        return builder;
    }
}
