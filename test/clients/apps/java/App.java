import io.sentry.Attachment;
import io.sentry.Breadcrumb;
import io.sentry.CheckIn;
import io.sentry.CheckInStatus;
import io.sentry.ISpan;
import io.sentry.ITransaction;
import io.sentry.Instrumenter;
import io.sentry.MonitorConfig;
import io.sentry.MonitorSchedule;
import io.sentry.Sentry;
import io.sentry.SentryAttributes;
import io.sentry.SentryDate;
import io.sentry.SentryEvent;
import io.sentry.SentryInstantDate;
import io.sentry.SentryLevel;
import io.sentry.SentryLogLevel;
import io.sentry.SpanStatus;
import io.sentry.TransactionOptions;
import io.sentry.logger.SentryLogParameters;
import io.sentry.protocol.Feedback;
import io.sentry.protocol.SentryId;
import io.sentry.protocol.User;
import java.time.Instant;
import java.util.Map;

/** An app that uses what the Java SDK offers. Argument `crash`: one that dies. */
class App {
  static boolean isNeeded(SentryEvent event) {
    return event.getMessage() == null || !"not needed".equals(event.getMessage().getFormatted());
  }

  static void parseField() {
    throw new NumberFormatException("field 3 is empty");
  }

  static void readCard() {
    try {
      parseField();
    } catch (NumberFormatException error) {
      throw new IllegalStateException("card number is missing", error);
    }
  }

  static void checkout() {
    try {
      readCard();
    } catch (IllegalStateException error) {
      Sentry.withScope(scope -> {
        scope.addAttachment(new Attachment("cart=3".getBytes(), "state.txt"));
        SentryId id = Sentry.captureException(error);
        Feedback feedback = new Feedback("The button does nothing");
        feedback.setName("Ann");
        feedback.setContactEmail("ann@example.com");
        feedback.setAssociatedEventId(id);
        Sentry.captureFeedback(feedback);
      });
    }
  }

  static void drawConnection() {
    throw new IllegalArgumentException("the pool is exhausted");
  }

  public static void main(String[] args) throws Exception {
    Sentry.init(options -> {
      options.setDsn(System.getenv("SENTRY_DSN"));
      options.setRelease("com.acme.books@5.0.1+9");
      options.setEnvironment("staging");
      options.setTracesSampleRate(1.0);
      options.getLogs().setEnabled(true);
      options.setBeforeSend((event, hint) -> isNeeded(event) ? event : null);
    });
    Sentry.configureScope(scope -> {
      User user = new User();
      user.setId("42");
      user.setEmail("ann@example.com");
      scope.setUser(user);
      scope.setTag("checkout", "express");
    });
    Breadcrumb breadcrumb = new Breadcrumb();
    breadcrumb.setCategory("ui.click");
    breadcrumb.setMessage("Pay now");
    breadcrumb.setData("button", "pay");
    Sentry.addBreadcrumb(breadcrumb);
    Sentry.startSession();
    if (args.length > 0 && args[0].equals("crash")) drawConnection();

    Instant startedAt = Instant.now().minusMillis(1_200);
    TransactionOptions options = new TransactionOptions();
    options.setStartTimestamp(new SentryInstantDate(startedAt));
    options.setBindToScope(true);
    ITransaction transaction = Sentry.startTransaction("POST /checkout", "http.server", options);
    SentryDate childStart = new SentryInstantDate(startedAt.plusMillis(200));
    ISpan child = transaction.startChild("db", "charge", childStart, Instrumenter.SENTRY);
    child.finish(SpanStatus.OK, new SentryInstantDate(startedAt.plusMillis(1_000)));
    checkout();
    SentryLogParameters parameters = SentryLogParameters.create(SentryAttributes.fromMap(Map.of("total", 12.5, "currency", "EUR")));
    Sentry.logger().log(SentryLogLevel.INFO, parameters, "cart paid");
    transaction.finish(SpanStatus.OK, new SentryInstantDate(startedAt.plusMillis(1_200)));

    Sentry.captureMessage("stock is low", SentryLevel.WARNING);
    Sentry.captureMessage("not needed");
    CheckIn start = new CheckIn("nightly", CheckInStatus.IN_PROGRESS);
    start.setMonitorConfig(new MonitorConfig(MonitorSchedule.crontab("0 3 * * *")));
    SentryId id = Sentry.captureCheckIn(start);
    CheckIn end = new CheckIn(id, "nightly", CheckInStatus.OK);
    end.setDuration(2.0);
    Sentry.captureCheckIn(end);
    Sentry.metrics().count("orders.created");
    Sentry.endSession();
    Sentry.flush(10_000);
    Sentry.close();
  }
}
