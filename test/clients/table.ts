import { readFileSync, writeFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { PAGE_CLIENTS, PROCESS_CLIENTS } from './clients.ts'
import type { OutcomeSum } from './outcomes.ts'

/** Columns of docs/compatibility.md: categories of items, the most important first. */
const COLUMNS = [
  ['error', 'errors'],
  ['session', 'sessions'],
  ['transaction', 'transactions'],
  ['span', 'spans'],
  ['attachment', 'attachments'],
  ['feedback', 'feedback'],
  ['monitor', 'check-ins'],
  ['log_item', 'logs'],
  ['trace_metric', 'metrics'],
  ['security', 'security'],
  ['internal', 'client reports'],
] as const

const LIVE = [...PAGE_CLIENTS, ...PROCESS_CLIENTS].map(({ name }) => name)
const PAGE = join(import.meta.dirname, '../../docs/compatibility.md')
const rows = new Map<string, Map<string, string>>()

/** Notes the counts of a run of one SDK. */
export function noteRun(section: 'live' | 'recorded', name: string, outcomes: readonly OutcomeSum[]): void {
  const cells = COLUMNS.map(([category]) => cellOf(outcomes.filter((one) => one.category === category)))
  const kept = rows.get(section) ?? new Map<string, string>()
  kept.set(name, `| ${name} | ${cells.join(' | ')} |`)
  rows.set(section, kept)
}

function cellOf(outcomes: readonly OutcomeSum[]): string {
  const sum = (wanted: (one: OutcomeSum) => boolean): number =>
    outcomes.filter(wanted).reduce((total, one) => total + one.quantity, 0)
  const stored = sum(({ outcome }) => outcome === 'accepted' || outcome === 'duplicate')
  const others = outcomes.filter(({ outcome }) => outcome !== 'accepted' && outcome !== 'duplicate')
  if (outcomes.length === 0) return '–'
  return [
    ...(stored > 0 ? [`✓ ${stored}`] : []),
    ...others.map(({ outcome, reason, quantity }) => `${quantity} ${outcome}${reason === '' ? '' : `: ${reason}`}`),
  ].join(', ')
}

const HEAD = `| SDK | ${COLUMNS.map(([, title]) => title).join(' | ')} |\n|---|${COLUMNS.map(() => '---').join('|')}|`

/**
 * Writes the rows of this run into the page's sections, between their marks; rows of SDKs that did not run stay.
 */
export function writeTableWhenAsked(): Promise<void> {
  if (process.env.WRITE_COMPATIBILITY === '1') writeTable()
  return Promise.resolve()
}

function writeTable(): void {
  if (!existsSync(PAGE)) throw new Error('docs/compatibility.md is missing')
  let page = readFileSync(PAGE, 'utf8')
  for (const [section, fresh] of rows) {
    const start = `<!-- ${section}: written by npm run test:clients -- --write -->\n`
    const end = `<!-- ${section} ends -->`
    const from = page.indexOf(start)
    const to = page.indexOf(end)
    if (from === -1 || to === -1) throw new Error(`docs/compatibility.md has no place for ${section}`)
    const old = page
      .slice(from + start.length, to)
      .split('\n')
      .filter((line) => line.startsWith('| ') && !line.startsWith('| SDK '))
      .map((line): [string, string] => [line.slice(2, line.indexOf(' |', 2)), line])
    const merged = new Map([...old, ...fresh])
    // Versions that are not tried any more lose their row.
    const names = section === 'live' ? LIVE : [...merged.keys()]
    const lines = names.flatMap((name) => merged.get(name) ?? [])
    page = `${page.slice(0, from + start.length)}\n${HEAD}\n${lines.join('\n')}\n\n${page.slice(to)}`
  }
  writeFileSync(PAGE, page)
}
