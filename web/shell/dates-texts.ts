/** Texts of the form of dates. */
export const datesTexts = {
  from: 'From',
  to: 'To',
  hint: (days: number, zone: string) => `At most ${days} days. Times are in ${zone}.`,
  show: 'Show',
  clear: 'Clear dates',
  missing: 'Enter a date and a time.',
  future: 'This time is in the future.',
  order: 'The end must be after the start.',
  tooLong: (days: number, start: string) => `At most ${days} days are shown. Start at ${start} or later.`,
} as const
