package rocketproof.agent;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.lang.instrument.ClassFileTransformer;
import java.lang.reflect.Modifier;
import java.security.ProtectionDomain;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.scaffold.TypeValidation;
import net.bytebuddy.implementation.StubMethod;
import org.junit.jupiter.api.Test;

/** Classes that other agents have changed before are recorded all the same. */
final class AgentTest {
    private static final String NAME = "org.apache.rocketmq.client.Request";

    /** What is put around the method. */
    static final class Around {
        @Advice.OnMethodEnter
        static void enter() {
        }
    }

    @Test
    void asksForNoInterfaceThatAnotherAgentHasAdded() throws Exception {
        TypeDescription accessor =
                new ByteBuddy().makeInterface().name("other.agent.Accessor").make().getTypeDescription();
        byte[] changed = new ByteBuddy()
                .with(TypeValidation.DISABLED)
                .subclass(Object.class)
                .name(NAME)
                .implement(Runnable.class)
                .implement(accessor)
                .defineMethod("run", void.class, Modifier.PUBLIC)
                .intercept(StubMethod.INSTANCE)
                .make()
                .getBytes();
        ClassFileTransformer transformer =
                Advices.around(Agent.builder(), NAME, "run", Around.class.getName()).makeRaw();
        ClassLoader loader = AgentTest.class.getClassLoader();
        ProtectionDomain domain = AgentTest.class.getProtectionDomain();
        assertNotNull(transformer.transform(loader, NAME.replace('.', '/'), null, domain, changed));
    }
}
