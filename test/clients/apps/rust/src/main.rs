//! An app that uses what the Rust SDK offers. Argument `crash`: one that panics.
use sentry::protocol::{Attachment, Breadcrumb, Event, SpanId, User};
use std::time::{Duration, SystemTime};

#[derive(Debug)]
struct FieldError;
impl std::fmt::Display for FieldError {
    fn fmt(&self, text: &mut std::fmt::Formatter) -> std::fmt::Result {
        text.write_str("field 3 is empty")
    }
}
impl std::error::Error for FieldError {}

#[derive(Debug)]
struct CardError(FieldError);
impl std::fmt::Display for CardError {
    fn fmt(&self, text: &mut std::fmt::Formatter) -> std::fmt::Result {
        text.write_str("card number is missing")
    }
}
impl std::error::Error for CardError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

fn read_card() -> Result<(), CardError> {
    Err(CardError(FieldError))
}

fn checkout() {
    if let Err(error) = read_card() {
        let attachment = Attachment { buffer: b"cart=3".to_vec(), filename: "state.txt".into(), ..Default::default() };
        sentry::with_scope(|scope| scope.add_attachment(attachment), || sentry::capture_error(&error));
    }
}

fn draw_connection() {
    panic!("the pool is exhausted");
}

fn main() {
    let guard = sentry::init(
        sentry::ClientOptions::new()
            .dsn(&std::env::var("SENTRY_DSN").unwrap_or_default())
            .release("engine@2.0.0")
            .environment("staging")
            .traces_sample_rate(1.0)
            .attach_stacktrace(true)
            .session_mode(sentry::SessionMode::Application)
            .before_send(|event: Event<'static>| if event.message.as_deref() == Some("not needed") { None } else { Some(event) })
            .shutdown_timeout(Duration::from_secs(10)),
    );
    sentry::configure_scope(|scope| {
        scope.set_user(Some(User { id: Some("42".into()), email: Some("ann@example.com".into()), ..Default::default() }));
        scope.set_tag("checkout", "express");
    });
    sentry::add_breadcrumb(Breadcrumb {
        category: Some("ui.click".into()),
        message: Some("Pay now".into()),
        data: [("button".into(), "pay".into())].into(),
        ..Default::default()
    });
    sentry::start_session();
    if std::env::args().nth(1).as_deref() == Some("crash") {
        draw_connection();
    }

    let started_at = SystemTime::now() - Duration::from_millis(1_200);
    let after = |milliseconds| started_at + Duration::from_millis(milliseconds);
    let context = sentry::TransactionContext::new("POST /checkout", "http.server");
    let transaction = sentry::start_transaction_with_timestamp(context, after(0));
    transaction.start_child_with_details("db", "charge", SpanId::default(), after(200)).finish_with_timestamp(after(1_000));
    sentry::configure_scope(|scope| scope.set_span(Some(transaction.clone().into())));
    checkout();
    sentry::logger_info!(total = 12.5, currency = "EUR", "cart paid");
    sentry::configure_scope(|scope| scope.set_span(None));
    transaction.finish_with_timestamp(after(1_200));

    sentry::capture_message("stock is low", sentry::Level::Warning);
    sentry::capture_message("not needed", sentry::Level::Info);
    sentry::metrics::counter("orders.created", 1).capture();
    sentry::end_session();
    drop(guard);
}
