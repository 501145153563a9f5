import { expect, test } from 'vitest'
import { bounds, lineOf, type Limits, nextRate, shortageOf, type Step, verdictOf } from './ramp.ts'

const LIMITS: Limits = { p99Ms: 200, lagSeconds: 5 }

const step = (ratePerSecond: number, over: Partial<Step> = {}): Step => ({
  ratePerSecond,
  sentPerSecond: ratePerSecond,
  refused: new Map(),
  p50Ms: 2,
  p99Ms: 9,
  waiting: { events: 0, seconds: 0 },
  ...over,
})

/** Tries rates against a machine whose digestion takes so many. */
function ramp(capacity: number, max = 20_000): Step[] {
  const steps: Step[] = []
  for (let rate = nextRate(steps, LIMITS, 200, max); rate !== null; rate = nextRate(steps, LIMITS, 200, max)) {
    steps.push(step(rate, rate > capacity ? { waiting: { events: 9_000, seconds: 9 } } : {}))
    expect(steps.length).toBeLessThan(30)
  }
  return steps
}

test.each([[3], [40], [210], [1_000], [3_333], [19_000]])(
  'a capacity of %i/s is found within an eighth',
  (capacity) => {
    const { good, bad } = bounds(ramp(capacity), LIMITS)
    expect(good).toBeLessThanOrEqual(capacity)
    expect(bad?.ratePerSecond).toBeGreaterThan(capacity)
    if (capacity > 10) expect((bad?.ratePerSecond ?? 0) / good).toBeLessThanOrEqual(1.13)
  },
)

test('a machine that takes everything is tried up to the highest rate, and so the verdict says', () => {
  const steps = ramp(Infinity, 3_000)
  expect(steps.at(-1)?.ratePerSecond).toBe(3_000)
  expect(verdictOf(steps, LIMITS, 20_000)).toEqual([
    'This machine takes at least 3,000 events/s of 20 kB, 259 million a day.',
    'Nothing was full: try a higher --max-rate.',
  ])
})

test.each([
  [{ refused: new Map([[429, 12]]) }, 'refused', /^Full first: a limit\. At 300\/s .*429: raise the limit/],
  [{ refused: new Map([[503, 12]]) }, 'refused', /^Full first: the intake\. .*\(503\)/],
  [{ p99Ms: 640 }, 'answers', /^Full first: the intake\. .*took over 640 ms \(limit 200 ms\)/],
  [{ waiting: { events: 4_000, seconds: 12.4 } }, 'digestion', /^Full first: digestion\. .*waited 12 s \(limit 5 s\)/],
  [{ sentPerSecond: 150 }, 'generator', /^Full first: this load generator\. .*sent 150\/s/],
] as const)('a step with %o is over: %s', (over, shortage, sentence) => {
  const bad = step(300, over)
  expect(shortageOf(bad, LIMITS)).toBe(shortage)
  expect(lineOf(bad, LIMITS)).toMatch(/^over {5}300\/s /)
  expect(verdictOf([step(200), bad], LIMITS, 3_000)).toEqual([
    'This machine takes 200 events/s of 3.0 kB, 17 million a day.',
    expect.stringMatching(sentence),
  ])
})

test('without figures of the service only the answers count', () => {
  expect(shortageOf(step(300, { waiting: null }), LIMITS)).toBeNull()
  expect(lineOf(step(300, { waiting: null }), LIMITS)).toBe('ok       300/s  answered in 2.0 ms, p99 9.0 ms')
})
