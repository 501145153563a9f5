/** The line that turns tracing on, by platform. */
export function tracingLine(platform: string): string {
  switch (platform) {
    case 'android':
      return '<meta-data android:name="io.sentry.traces.sample-rate" android:value="0.2" />'
    case 'ios':
      return 'options.tracesSampleRate = 0.2'
    case 'flutter':
      return 'options.tracesSampleRate = 0.2;'
    default:
      return 'Sentry.init({ dsn, tracesSampleRate: 0.2 })'
  }
}
