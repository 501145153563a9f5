# An app that uses what the Ruby SDK offers. Argument `crash`: one that dies.
require 'sentry-ruby'

Sentry.init do |config|
  config.release = 'depot@3.2.0'
  config.environment = 'staging'
  config.traces_sample_rate = 1.0
  config.enable_logs = true
  config.enable_metrics = true
  config.auto_session_tracking = true
  config.background_worker_threads = 0
  config.project_root = __dir__
  config.sdk_logger = Logger.new(IO::NULL)
  config.before_send = ->(event, _hint) { event.is_a?(Sentry::ErrorEvent) && event.message == 'not needed' ? nil : event }
end

def parse_field
  raise KeyError, 'field 3 is empty'
end

def read_card
  parse_field
rescue KeyError
  raise ArgumentError, 'card number is missing'
end

def checkout
  read_card
rescue ArgumentError => e
  Sentry.with_scope do |scope|
    scope.add_attachment(filename: 'state.txt', bytes: 'cart=3')
    Sentry.capture_exception(e)
  end
end

def draw_connection
  raise 'the pool is exhausted'
end

at_exit { Sentry.close }

# Without a web framework the session is what a program makes of it.
Sentry.with_session_tracking do
  Sentry.set_user(id: '42', email: 'ann@example.com')
  Sentry.set_tags(checkout: 'express')
  Sentry.add_breadcrumb(Sentry::Breadcrumb.new(category: 'ui.click', message: 'Pay now', data: { button: 'pay' }))
  begin
    draw_connection if ARGV == ['crash']
  rescue StandardError => e
    # As the SDK's integrations of frameworks do: a plain program has none that catches its end.
    Sentry.capture_exception(e, hint: { mechanism: Sentry::Mechanism.new(type: 'at_exit', handled: false) })
    raise
  end

  started_at = Time.now.to_f - 1.2
  transaction = Sentry.start_transaction(name: 'POST /checkout', op: 'http.server', start_timestamp: started_at)
  transaction.start_child(op: 'db', description: 'charge', start_timestamp: started_at + 0.2).finish(end_timestamp: started_at + 1.0)
  Sentry.with_scope do |scope|
    scope.set_span(transaction)
    checkout
    Sentry.logger.info('cart paid', total: 12.5, currency: 'EUR')
  end
  transaction.finish(end_timestamp: started_at + 1.2)

  Sentry.capture_message('stock is low', level: :warning)
  Sentry.capture_message('not needed')
  monitor = Sentry::Cron::MonitorConfig.from_crontab('0 3 * * *', timezone: 'UTC')
  check_in = Sentry.capture_check_in('nightly', :in_progress, monitor_config: monitor)
  Sentry.capture_check_in('nightly', :ok, check_in_id: check_in, duration: 2)
  Sentry.metrics.count('orders.created', value: 1)
end
