/** Texts of the limits of requests. */
export const requestLimitsTexts = {
  title: 'Limits of requests',
  p95: 'P95',
  p95Hint: 'From here on requests are Poor, from four fifths of it on Watch. Empty for none.',
  p95Wrong: (max: string) => `Enter a whole number from 1 to ${max}, or nothing.`,
  ms: 'ms',
  failures: 'Failed requests',
  failuresHint: 'The same for the share of requests that fail. Empty for none.',
  failuresWrong: 'Enter a number above 0, at most 100, or nothing.',
  percent: '%',
  saved: 'Limits saved',
  failed: 'Could not save the limits.',
} as const
