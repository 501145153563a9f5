import { describe, expect, test } from 'vitest'
import { RuleBudget, RuleOverruns } from './rule-budget.ts'
import { scrubConnection, scrubEvent } from './scrub.ts'
import { TOO_COSTLY } from './scrub-words.ts'

const COSTLY = '\\pL{900}[0-9]'
const custom = (path: string, regex: string) => ({ path, pattern: 'custom', regex, action: 'replace' }) as const
/** Letters keep every state of the expression alive. */
const LONG = 'a'.repeat(60_000)
const rule = { path: 'm', regex: 'r' }

/** Processor time that grows by 1 ms whenever it is read, so that a search ends after as many checks. */
function steps(): () => number {
  let ms = 0
  return () => ++ms
}

/** A search that takes as many checks. */
const taking =
  (checks: number) =>
  (check: () => void): string => {
    for (let done = 0; done < checks; done++) check()
    return 'clean'
  }

describe('a payload', () => {
  test('has a limit for all of its texts together, and none passes unsearched', () => {
    const budget = new RuleBudget(null, steps())
    const results = [1, 2, 3, 4].map(() => budget.spend(rule, 'text', taking(40)))
    expect(results).toEqual(['clean', 'clean', null, null])
    expect(budget.costly()).toEqual([{ ...rule, texts: 2 }])
  })

  test('blames the rule that used most, not the one at the limit', () => {
    const budget = new RuleBudget(null, steps())
    const cheap = { path: 'n', regex: 's' }
    budget.spend(rule, 'text', taking(90))
    expect(budget.spend(cheap, 'text', taking(20))).toBeNull()
    expect(budget.costly()).toEqual([{ ...rule, texts: 1 }])
  })

  test('keeps an error of the search', () => {
    const search = () => {
      throw new TypeError('a fault')
    }
    expect(() => new RuleBudget(null, steps()).spend(rule, 'text', search)).toThrow(TypeError)
  })
})

describe('a project', () => {
  test('suspends a rule that keeps exceeding its payloads, for a minute, and no other rule', () => {
    const state = { nowMs: 0 }
    const overruns = new RuleOverruns(() => state.nowMs)
    const other = { path: 'n', regex: 's' }
    const search = (which: typeof rule, checks: number) => {
      const budget = new RuleBudget(overruns, steps())
      let searched = false
      const result = budget.spend(which, 'text', (check) => {
        searched = true
        return taking(checks)(check)
      })
      return { result, searched, costly: budget.costly() }
    }
    for (let n = 0; n < 3; n++) expect(search(rule, 500)).toMatchObject({ result: null, searched: true })
    expect(search(rule, 1)).toEqual({ result: null, searched: false, costly: [{ ...rule, texts: 1 }] })
    expect(search(other, 1)).toEqual({ result: 'clean', searched: true, costly: [] })
    state.nowMs = 61_000
    expect(search(rule, 1)).toEqual({ result: 'clean', searched: true, costly: [] })
  })

  test('has no limit for payloads that keep theirs, however many there are: they take their turns', () => {
    const overruns = new RuleOverruns(() => 0)
    for (let n = 0; n < 200; n++)
      expect(new RuleBudget(overruns, steps()).spend(rule, 'text', taking(90))).toBe('clean')
  })
})

describe('scrubbing', () => {
  test('replaces text that a rule cannot search within its limits, and names the rule', () => {
    const budget = new RuleBudget()
    const raw = { message: LONG, extra: { short: 'ORD-1 b', list: [LONG, 'x'] }, level: 'error' }
    const rules = [custom('**', COSTLY), custom('**', 'ORD-\\d')]
    expect(scrubEvent(raw, { rules, budget })).toBe(true)
    expect(raw).toEqual({
      message: TOO_COSTLY,
      extra: { short: TOO_COSTLY, list: [TOO_COSTLY, TOO_COSTLY] },
      level: 'error',
    })
    expect(budget.costly()).toEqual([{ path: '**', regex: COSTLY, texts: 4 }])
  })

  test('has limits for every caller, and for the connection', () => {
    const rules = [custom('**', COSTLY)]
    const raw = { message: LONG }
    scrubEvent(raw, { rules })
    expect(raw.message).toBe(TOO_COSTLY)
    expect(
      scrubConnection({ clientIp: null, userAgent: LONG }, { rules: [custom('request.headers.user-agent', COSTLY)] })
        .userAgent,
    ).toBeNull()
  })

  test('replaces the texts of an expression that was saved before its size was limited', () => {
    const budget = new RuleBudget()
    const raw = { message: 'short', extra: { a: 'b' } }
    scrubEvent(raw, { rules: [custom('message', '(?i)(\\pL{1,500}){1,2}!')], budget })
    expect(raw).toEqual({ message: TOO_COSTLY, extra: { a: 'b' } })
    expect(budget.costly()).toMatchObject([{ path: 'message', texts: 1 }])
  })
})
