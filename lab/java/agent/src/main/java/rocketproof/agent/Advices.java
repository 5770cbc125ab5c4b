package rocketproof.agent;

import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.matcher.ElementMatcher;
import net.bytebuddy.matcher.ElementMatchers;

/** Short ways to say which advice goes around which method. */
public final class Advices {
    private Advices() {
    }

    /**
     * Puts an advice around the methods of a class that match; a class or method that a release does not have is passed
     * over.
     *
     * @param type full name of RocketMQ's class
     * @param method which of its methods
     * @param advice full name of the class with the advice, which is read and not loaded
     */
    public static AgentBuilder around(
            AgentBuilder builder, String type, ElementMatcher<? super MethodDescription> method, String advice) {
        return builder.type(ElementMatchers.named(type)).transform(advice(method, advice));
    }

    /** As above, for all methods of that name. */
    public static AgentBuilder around(AgentBuilder builder, String type, String method, String advice) {
        return around(builder, type, ElementMatchers.named(method), advice);
    }

    /** The transformation of a class that was chosen in another way. */
    public static AgentBuilder.Transformer advice(
            ElementMatcher<? super MethodDescription> method, String advice) {
        return advice(method, advice, Advice.withCustomMapping());
    }

    /** As above, for advice with parameters of its own kinds. */
    public static AgentBuilder.Transformer advice(
            ElementMatcher<? super MethodDescription> method, String advice, Advice.WithCustomMapping mapping) {
        return new AgentBuilder.Transformer.ForAdvice(mapping)
                .include(Advices.class.getClassLoader())
                .advice(method, advice);
    }
}
