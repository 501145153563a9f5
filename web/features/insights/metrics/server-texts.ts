import { counted, formatCount } from '../../../ui/format.ts'

/** Texts of the metrics of a server. */
export const serverTexts = {
  errorRate: 'Errors per 1,000 requests',
  tooFew: 'too few requests',
  tooFewNote: (requests: number) => `Too few: ${formatCount(requests)} of the 20 requests that a rate needs`,
  coarse: (length: string) => `Few requests: each point is of ${length}.`,
  errorRateNote: (errors: number, requests: number) =>
    `${counted(errors, 'error', 'errors')}, ${counted(requests, 'request', 'requests')}`,
  sampled: 'Requests are those that the SDK sent: with a sample rate below 1 the ratio reads too high.',
  failed: 'Failed requests',
  failedNote: (share: string, limit: string | null) =>
    limit === null ? `${share} of the requests` : `${share} of the requests, limit ${limit}`,
  limit: (limit: string) => `Limit ${limit}`,
  p95Title: 'P95 of requests',
  usersHit: 'Users hit',
  usersNote: 'Distinct users with an error',
  noUsers: 'No event names its user',
  requests: 'Requests',
  perMinute: (rate: string) => `${rate} per minute`,
  against: (value: string) => `before: ${value}`,
  chart: (title: string, value: string) => `${title} over time, ${value} in this period.`,
  failing: 'Failing transactions',
  failingUnit: 'most failures first',
  noFailing: 'No transaction failed in this period.',
  allTransactions: 'Performance',
  name: 'Name',
  failures: 'Failed',
  rate: 'Failure rate',
  p95: 'P95',
} as const
