import io.sentry.Attachment;
import io.sentry.CheckIn;
import io.sentry.CheckInStatus;
import io.sentry.ITransaction;
import io.sentry.Sentry;
import io.sentry.SentryLevel;
import io.sentry.protocol.Feedback;
import io.sentry.protocol.User;

/** An app that uses what the Java SDK offers. Argument `crash`: one that dies. */
class App {
  static void readCard() {
    throw new IllegalStateException("card number is missing");
  }

  public static void main(String[] args) throws Exception {
    Sentry.init(options -> {
      options.setDsn(System.getenv("SENTRY_DSN"));
      options.setRelease("com.acme.ledger@5.0.1+9");
      options.setEnvironment("staging");
      options.setTracesSampleRate(1.0);
      options.getLogs().setEnabled(true);
    });
    Sentry.startSession();
    if (args.length > 0 && args[0].equals("crash")) throw new IllegalArgumentException("the pool is exhausted");
    Sentry.configureScope(scope -> {
      User user = new User();
      user.setId("42");
      user.setEmail("ann@example.com");
      scope.setUser(user);
      scope.setTag("checkout", "express");
      scope.addAttachment(new Attachment("cart=3".getBytes(), "state.txt"));
    });
    Sentry.addBreadcrumb("Pay now", "ui.click");
    ITransaction transaction = Sentry.startTransaction("charge", "task");
    transaction.startChild("db").finish();
    transaction.finish();
    try {
      readCard();
    } catch (IllegalStateException error) {
      Sentry.captureException(error);
    }
    Sentry.captureMessage("stock is low", SentryLevel.WARNING);
    Feedback feedback = new Feedback("The button does nothing");
    feedback.setName("Ann");
    Sentry.captureFeedback(feedback);
    Sentry.captureCheckIn(new CheckIn("nightly", CheckInStatus.OK));
    Sentry.logger().info("cart paid");
    Sentry.endSession();
    Sentry.flush(10_000);
    Sentry.close();
  }
}
