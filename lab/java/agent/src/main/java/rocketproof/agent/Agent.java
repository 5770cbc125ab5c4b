package rocketproof.agent;

import java.lang.instrument.Instrumentation;
import java.lang.management.ManagementFactory;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.scaffold.MethodGraph;
import net.bytebuddy.dynamic.scaffold.TypeValidation;
import net.bytebuddy.matcher.ElementMatchers;
import net.bytebuddy.utility.JavaModule;
import rocketproof.agent.broker.BrokerSide;
import rocketproof.agent.client.ClientSide;

/**
 * The agent of a JVM: records what RocketMQ's consumers and brokers in it do, as traces that rocketproof checks.
 *
 * <p><code>java -javaagent:rocketproof-agent.jar=dir=/tmp/traces …</code>, or attached to a JVM that runs. Options: see
 * {@link Options}. The application never waits for the agent and never sees an exception of it; where something cannot
 * be instrumented it is told on standard error, and the rest is recorded.
 */
public final class Agent {
    /** The version of what the agent records; it is in the source of every file. */
    public static final String NAME = "rocketproof agent 1";

    // Advice is inlined into RocketMQ's classes and can reach only what is static.
    private static volatile Recorder recorder;

    private Agent() {
    }

    /** The JVM starts with the agent. */
    public static void premain(String options, Instrumentation instrumentation) {
        start(options, instrumentation);
    }

    /** The agent is attached to a JVM that runs: what started before is recorded from now on. */
    public static void agentmain(String options, Instrumentation instrumentation) {
        start(options, instrumentation);
    }

    /** The recorder of this JVM. */
    public static Recorder recorder() {
        return recorder;
    }

    /** The id of this process, as it is in the names of files. */
    public static String pid() {
        String name = ManagementFactory.getRuntimeMXBean().getName();
        int at = name.indexOf('@');
        return at < 0 ? name : name.substring(0, at);
    }

    private static synchronized void start(String text, Instrumentation instrumentation) {
        if (recorder != null) {
            Recorder.complain("is in this JVM already; nothing is changed");
            return;
        }
        try {
            Options options = Options.parse(text);
            Event.setClock(options.clock);
            recorder = new Recorder(options.dir, options.buffer).start();
            // The daemon thread goes on to write while the application's own hooks shut its consumers down.
            Runtime.getRuntime().addShutdownHook(new Thread(() -> recorder.flush(2000), "rocketproof-exit"));
            install(instrumentation);
        } catch (Throwable error) {
            Recorder.complain("does not record: " + (error instanceof IllegalArgumentException ? error.getMessage() : error));
        }
    }

    private static void install(Instrumentation instrumentation) {
        AgentBuilder builder = builder();
        for (Side side : new Side[] {new ClientSide(), new BrokerSide()}) {
            builder = side.install(builder);
        }
        builder.installOn(instrumentation);
    }

    /**
     * How classes of RocketMQ are changed. Other agents may have added interfaces that cannot be found, as that of
     * OpenTelemetry does: they are not asked for, as a class is only decorated, and its own methods are all that is
     * looked at. In a JVM that runs already, looking at a class loads those that its methods name, and no transformer
     * sees these: loaded classes are looked for until there are no new ones.
     */
    static AgentBuilder builder() {
        ByteBuddy byteBuddy = new ByteBuddy()
                .with(TypeValidation.DISABLED)
                .with(MethodGraph.Compiler.ForDeclaredMethods.INSTANCE);
        return new AgentBuilder.Default(byteBuddy)
                .with(AgentBuilder.TypeStrategy.Default.DECORATE)
                .disableClassFormatChanges()
                .with(AgentBuilder.RedefinitionStrategy.RETRANSFORMATION)
                .with(AgentBuilder.RedefinitionStrategy.DiscoveryStrategy.Reiterating.INSTANCE)
                .with(new Complaints())
                .ignore(ElementMatchers.not(ElementMatchers.nameStartsWith("org.apache.rocketmq.")));
    }

    private static final class Complaints extends AgentBuilder.Listener.Adapter {
        @Override
        public void onError(
                String type, ClassLoader loader, JavaModule module, boolean loaded, Throwable error) {
            Hooks.failed(type);
            Recorder.complain("does not record what " + type + " does: " + error);
        }

        @Override
        public void onTransformation(
                TypeDescription type,
                ClassLoader loader,
                JavaModule module,
                boolean loaded,
                DynamicType dynamic) {
            Hooks.changed(type.getName());
            if (Boolean.getBoolean("rocketproof.agent.verbose")) {
                Recorder.complain("records what " + type.getName() + " does");
            }
        }
    }
}
