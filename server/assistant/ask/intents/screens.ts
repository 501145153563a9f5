import type { ZodType } from 'zod'
import { filterWords, askedRange, type Asked, type Intent } from '../asked.ts'
import { pathTo } from '../facts.ts'
import { findReleases, ofReleases } from '../find-release.ts'
import { page, Screen, Transaction } from '../shapes.ts'
import { count, duration, percent, plural, quoted } from '../question.ts'

const filters = ({ question }: Asked, release: string | undefined) => ({
  ...(question.os === null ? {} : { os: [question.os] }),
  ...(question.environment === null ? {} : { environment: [question.environment] }),
  ...(release === undefined ? {} : { release: [release] }),
})

/** The same without the device that is asked about, of which these figures are not counted. */
function ofAllDevices(asked: Asked, what: string): Asked {
  const { device } = asked.question
  if (device === null) return asked
  asked.say(`${what} are not counted by device, so these are those of all devices.`)
  return { ...asked, question: { ...asked.question, device: null } }
}

const ms = (value: number | null): string => (value === null ? '–' : duration(value))
const share = (value: number | null): string => (value === null ? '–' : percent(value))

/** Leaves the ones whose name the question has; all when it has none. */
function named<T extends { readonly name: string }>({ question }: Asked, all: readonly T[]): readonly T[] {
  const wanted = question.quoted?.toLowerCase()
  const found = all.filter(({ name }) => {
    const words = name.toLowerCase()
    return wanted === undefined ? hasWords(question.text, words) : words.includes(wanted)
  })
  return found.length > 0 ? found : all
}

/** Whether a text has a name, or its last part, as words: `checkout` of `app/CheckoutScreen`. */
function hasWords(text: string, name: string): boolean {
  const last = name.split(/[./#:]/).at(-1) ?? name
  return [name, last, last.replace(/(?:screen|page|activity|viewcontroller|view)$/, '')].some(
    (part) => part.length >= 3 && new RegExp(`(?<![\\w-])${part.replaceAll(/[^\w ]/g, '.')}(?![\\w-])`).test(text),
  )
}

/** "What are the slowest screens?", "How fast is the checkout screen?" */
export const screens: Intent = {
  name: 'screens',
  fits: ({ text }) =>
    /\bscreens?\b|\bpages?\b|\bviews?\b|\bactivit(?:y|ies)\b|ttid|ttfd|time to (?:initial|full) display|renders?\b|rendering/.test(
      text,
    )
      ? 7
      : /slowest|\bslow\b|\bhow (?:fast|slow|quick)|\bsluggish|load(?:s|ing)? (?:slow|time)|laggy|performance/.test(
            text,
          )
        ? 3
        : 0,
  async answer(given) {
    const isFastest = /fastest|quickest/.test(given.question.text)
    await answerRanked(given, Screen, {
      what: 'Screens',
      operation: 'listScreens',
      path: '/performance/screens',
      sort: isFastest ? 'p95' : '-p95',
      head: ['Screen', 'Loads', 'Median', 'p75', 'p95', 'p75 of the time before', 'Slow frames', 'Frozen frames'],
      cells: (one) => [
        one.name,
        count(one.count),
        ms(one.render.p50_ms),
        ms(one.render.p75_ms),
        ms(one.render.p95_ms),
        ms(one.previous_p75_ms),
        share(one.slow_frame_ratio),
        share(one.frozen_frame_ratio),
      ],
      title: (of) => `${isFastest ? 'Fastest' : 'Slowest'} screens of ${of}, by p95:`,
      line: (one, cite) =>
        `p95 ${cite(ms(one.render.p95_ms))}, p75 ${cite(ms(one.render.p75_ms))}, ${cite(count(one.count))} ${plural(one.count, 'load')}` +
        (one.previous_p75_ms === null ? '' : `; p75 was ${cite(ms(one.previous_p75_ms))} in the time before`),
    })
  },
}

/** "Which transactions are slowest?", "Which endpoints fail most?" */
export const transactions: Intent = {
  name: 'transactions',
  fits: ({ text }) =>
    /transactions?|endpoints?|\brequests?\b|\bapi\b|operations?|throughput|failure rate|spans?\b|backend/.test(text)
      ? 7
      : 0,
  async answer(given) {
    const byFailures = /fail|error/.test(given.question.text)
    await answerRanked(given, Transaction, {
      what: 'Transactions',
      operation: 'listTransactions',
      path: '/performance',
      sort: byFailures ? '-failures' : '-p95',
      head: ['Transaction', 'Count', 'Median', 'p75', 'p95', 'Failures', 'Failure rate'],
      cells: (one) => [
        one.name,
        count(one.count),
        ms(one.p50),
        ms(one.p75),
        ms(one.p95),
        count(one.failures),
        share(one.failure_rate),
      ],
      title: (of) => `Transactions of ${of}${byFailures ? ' that fail most' : ', slowest first'}:`,
      line: (one, cite) => `p95 ${cite(ms(one.p95))}, ${cite(count(one.failures))} of ${cite(count(one.count))} failed`,
    })
  },
}

type Ranking<One> = {
  readonly what: 'Screens' | 'Transactions'
  readonly operation: 'listScreens' | 'listTransactions'
  /** The page that shows them. */
  readonly path: string
  readonly sort: string
  readonly head: readonly string[]
  readonly cells: (one: One) => readonly string[]
  /** @param of their project, release and time */
  readonly title: (of: string) => string
  readonly line: (one: One, cite: (figure: string) => string) => string
}

/** Answers with the first ones of each project and release that the question means. */
async function answerRanked<One extends { readonly name: string }>(
  given: Asked,
  shape: ZodType<One>,
  ranking: Ranking<One>,
): Promise<void> {
  const { what, operation, path, sort, head, cells, title, line } = ranking
  const asked = ofAllDevices(given, what)
  const { facts, say, question } = asked
  const { range, label } = askedRange(asked)
  const releases = await findReleases(asked)
  if (question.releases.length > 0 && releases.length === 0) return
  const found = await ofReleases(asked, releases, (project, release) =>
    facts.read(operation, page(shape), {
      query: { projectId: project.id, range, sort, limit: '100', ...filters(asked, release?.version) },
    }),
  )
  let isKnown = false
  for (const { project, figures, of } of found) {
    const shown = named(asked, figures.items).slice(0, question.limit ?? 5)
    if (shown.length === 0) continue
    isKnown = true
    const cite = facts.source(`${what} of ${of} ${label}`, operation, pathTo(path, { project: project.id, range }), [
      head,
      ...shown.map(cells),
    ])
    say(title(`${of} ${label}`))
    for (const one of shown) say(`- ${quoted(one.name)}: ${line(one, cite)}`)
  }
  if (!isKnown && facts.refused.size === 0)
    say(`No ${what.toLowerCase()}${filterWords(question)} were measured ${label}.`)
}
