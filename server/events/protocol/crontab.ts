/** Validates schedules of cron monitors: five fields with lists, ranges, steps and names, or a nickname. */

const NICKNAMES = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'])

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

type Field = { readonly min: number; readonly max: number; readonly names: readonly string[]; readonly last: boolean }

const FIELDS: readonly Field[] = [
  { min: 0, max: 59, names: [], last: false },
  { min: 0, max: 23, names: [], last: false },
  // `L` is the last day of the month.
  { min: 1, max: 31, names: [], last: true },
  { min: 1, max: 12, names: MONTHS, last: false },
  // 7 is Sunday as well.
  { min: 0, max: 7, names: DAYS, last: false },
]

const MAX_CRONTAB = 256

/** The schedule in its plain form (lower case, single spaces); null when it is invalid. */
export function readCrontab(text: string): string | null {
  if (text.length > MAX_CRONTAB) return null
  const plain = text.trim().toLowerCase().replaceAll(/\s+/g, ' ')
  if (NICKNAMES.has(plain)) return plain
  const parts = plain.split(' ')
  if (parts.length !== FIELDS.length) return null
  return FIELDS.every((field, index) => isField(parts[index] ?? '', field)) ? plain : null
}

const isField = (text: string, field: Field): boolean => text.split(',').every((part) => isPart(part, field))

function isPart(text: string, field: Field): boolean {
  const [range = '', step, ...more] = text.split('/')
  if (more.length > 0 || (step !== undefined && !isStep(step, field))) return false
  if (range === '*') return true
  if (range === 'l') return field.last && step === undefined
  const [from = '', to, ...rest] = range.split('-')
  const start = numberOf(from, field)
  if (start === null || rest.length > 0) return false
  if (to === undefined) return true
  const end = numberOf(to, field)
  return end !== null && start <= end
}

const isStep = (text: string, field: Field): boolean =>
  /^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= field.max

function numberOf(text: string, field: Field): number | null {
  if (!/^\d{1,2}$/.test(text)) {
    const named = field.names.indexOf(text)
    return named === -1 ? null : named + field.min
  }
  const value = Number(text)
  return value >= field.min && value <= field.max ? value : null
}
