import { formatCount } from '../../ui/format.ts'

/** Texts of an issue in a list. */
export const lineTexts = {
  events: (count: number) => (count === 1 ? 'event' : 'events'),
  users: (count: number) => (count === 1 ? 'user' : 'users'),
  trend: (sum: number, peak: number) =>
    sum === 0
      ? 'No events in the last 24 hours.'
      : `${formatCount(sum)} ${sum === 1 ? 'event' : 'events'} in the last 24 hours, at most ${formatCount(peak)} per hour.`,
} as const
