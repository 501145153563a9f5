import { fingerprint } from '#server/issues/grouping/grouping.ts'
import { isRecord } from '#server/events/protocol/json.ts'
import { parseGuarded } from '#server/events/protocol/json-guard.ts'
import { type NormalizeContext, normalizeEvent } from '#server/events/protocol/normalize.ts'
import { scrubEvent } from '#server/events/protocol/scrub.ts'
import { type BenchArgs, type BenchResult, type Figure, median } from './bench.ts'
import { makeEvents, STANDARD_SHAPE } from './payloads.ts'

export const summary = 'what an event costs between its bytes and the database: parse, scrub, normalise, fingerprint'

const CONTEXT: NormalizeContext = {
  eventId: '9ec79c33ec9942ab8353589fcb2e04dc',
  receivedAt: new Date(1_795_050_000_000),
  sentAt: new Date(1_795_050_000_000),
  clientIp: '203.0.113.7',
  userAgent: null,
}

const STEPS = ['parse', 'scrub', 'normalise', 'fingerprint'] as const
type Round = Record<(typeof STEPS)[number], number>

const WARM_UP_ROUNDS = 8

/** Medians of rounds over 200 events on one core, so that other programs disturb less. */
export async function run(args: BenchArgs): Promise<BenchResult> {
  const figures: Record<string, Figure> = {}
  for (const kilobytes of [3, 20, 50]) {
    const events = makeEvents({ ...STANDARD_SHAPE, variantsPerIssue: 1, sizeBytes: kilobytes * 1000 })
    const rounds: Round[] = []
    for (let round = 0; round < (args.long ? 200 : 40); round += 1)
      rounds.push(measureRound(events.map(({ json }) => json)))
    for (const step of STEPS) {
      const value = median(rounds.slice(WARM_UP_ROUNDS).map((round) => round[step]))
      figures[`${kilobytes} KB: ${step}`] = { value, unit: 'µs/event', ...goalOf(kilobytes, step) }
    }
  }
  return {
    figures,
    payload: '200 made-up Node events of 3, 20 and 50 KB',
    durability: 'nothing is stored',
    postgres: 'unused',
  }
}

function goalOf(kilobytes: number, step: (typeof STEPS)[number]): { goal?: string } {
  if (kilobytes !== 20) return {}
  if (step === 'scrub') return { goal: '≤30' }
  return step === 'normalise' ? { goal: '≤60' } : {}
}

/** Sends one event after the other through all steps, as digestion does: the next step finds warm caches. */
function measureRound(texts: readonly Buffer[]): Round {
  const total: Round = { parse: 0, scrub: 0, normalise: 0, fingerprint: 0 }
  for (const text of texts) {
    const start = performance.now()
    const { value } = parseGuarded(text)
    const parsed = performance.now()
    if (!isRecord(value)) continue
    scrubEvent(value)
    const scrubbed = performance.now()
    const event = normalizeEvent(value, CONTEXT)
    const normalised = performance.now()
    fingerprint(event)
    const grouped = performance.now()
    total.parse += parsed - start
    total.scrub += scrubbed - parsed
    total.normalise += normalised - scrubbed
    total.fingerprint += grouped - normalised
  }
  for (const step of STEPS) total[step] *= 1000 / texts.length
  return total
}
