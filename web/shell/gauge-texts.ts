import { counted, formatCount } from '../ui/format.ts'

const YEAR_DAYS = 365

/** Texts of the gauge below the rail. */
export const gaugeTexts = {
  receiving: 'Receiving',
  quiet: 'Nothing arrives',
  hint: 'Error events, mean of the last five minutes',
  dropped: (count: number) => `${formatCount(count)} dropped in 24 h`,
  disk: (days: number) => (days > YEAR_DAYS ? 'disk over a year' : `disk ${counted(days, 'day', 'days')}`),
  diskHint: 'Until 90\u202f% of the disk are used',
} as const
