package rocketproof.agent.client;

import static net.bytebuddy.matcher.ElementMatchers.namedOneOf;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.field.FieldDescription;

/** The lock of a ProcessQueue that guards its messages; before 4.8 it has another name. */
final class TreeLock {
    private TreeLock() {
    }

    /** A parameter of advice that is this lock. */
    @Retention(RetentionPolicy.RUNTIME)
    @interface Of {
    }

    /** How advice with such parameters is read. */
    static Advice.WithCustomMapping mapping() {
        Advice.OffsetMapping ofField = (type, method, assigner, arguments, sort) -> {
            FieldDescription field =
                    type.getDeclaredFields().filter(namedOneOf("treeMapLock", "lockTreeMap")).getOnly();
            return new Advice.OffsetMapping.Target.ForField.ReadOnly(field);
        };
        return Advice.withCustomMapping().bind(new Advice.OffsetMapping.Factory.Simple<>(Of.class, ofField));
    }
}
