import { formatDay, formatMoment } from '../../ui/format.ts'

/** `29 Nov 2026 10:34 UTC`, as the service writes times into sentences. */
const MINUTE = /\b(\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4}) (\d\d:\d\d) UTC/gu
/** `on 2026-11-28`; a release may be named by a day. */
const DAY = /(?<=\bon )\d{4}-\d\d-\d\d\b(?![T\d+-])/gu

/** A sentence of the service with its times and days as the page writes others, in the reader's zone. Pure. */
export const withLocalTimes = (sentence: string): string =>
  sentence
    .replaceAll(MINUTE, (text, day: string, time: string) => {
      const at = Date.parse(`${day} ${time} UTC`)
      return Number.isNaN(at) ? text : formatMoment(new Date(at).toISOString())
    })
    // A day has no zone.
    .replaceAll(DAY, (text) => (Number.isNaN(Date.parse(text)) ? text : formatDay(text, Date.now(), 'utc')))
