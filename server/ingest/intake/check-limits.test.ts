import { floodGrouping } from '../../issues/grouping/flood-grouping.ts'
import { groupingSettings } from '../../issues/grouping/grouping-settings.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { anEvent } from '#test/kit/sdk.ts'
import { createRateLimiter } from '../limits/rate-limiter.ts'
import { createFloodSampling } from '../limits/flood-sampling.ts'
import { parseEnvelope } from '../../events/protocol/envelope.ts'
import { checkEvent, checkItems, type Limits, type LimitedKey } from './check-limits.ts'

let ms = 0
beforeEach(() => {
  ms = 1_000_000
})

function limitsAt(scale = 1): Limits & { quotaLeft: number } {
  const nowMs = () => ms
  const limits = {
    limiter: createRateLimiter({ scale, loopbackExempt: false, nowMs }),
    floods: createFloodSampling(nowMs),
    quotaLeft: Number.POSITIVE_INFINITY,
    quota: {
      take: () => (limits.quotaLeft-- > 0 ? 0 : 300),
      flush: () => Promise.resolve(),
      close: () => Promise.resolve(),
    },
  }
  return limits
}

const KEY: LimitedKey = {
  id: 'k',
  projectId: 'p',
  orgId: 'o',
  ratePerMinute: null,
  eventsPerDay: 1,
  spikeProtection: true,
  grouping: floodGrouping(groupingSettings({})),
}

const check = (text: string, limits: Limits = limitsAt(), key = KEY) => {
  const decoded = Buffer.from(text)
  return checkItems(limits, key, decoded, parseEnvelope(decoded).items)
}

describe('items of an envelope', () => {
  test('items over the maximum number of their type are dropped', () => {
    const { dropped, kept } = check(`{}\n${'{"type":"attachment"}\nx\n'.repeat(31)}`)
    expect(kept).toBe(30)
    expect(dropped).toEqual([{ index: 30, reason: 'too_large' }])
  })

  test('a second event is not counted as kept and not dropped', () => {
    expect(check('{}\n{"type":"event"}\n{}\n{"type":"event"}\n{}')).toMatchObject({ kept: 1, dropped: [] })
  })

  test('attachments of a limited event are dropped with it, and attachments are not limited', () => {
    const limits = limitsAt(0.001)
    limits.limiter.takeItem('k', 'error')
    const { dropped, kept, limited } = check(
      '{}\n{"type":"attachment"}\nx\n{"type":"event"}\n[]\n{"type":"session"}\n{}',
      limits,
    )
    expect(dropped.map(({ index }) => index)).toEqual([0, 1])
    expect(kept).toBe(1)
    expect([...limited.keys()]).toEqual(['error'])
  })

  test('a minidump of a limited event is kept, within the limit of attachments', () => {
    const limits = limitsAt(0.001)
    limits.limiter.takeItem('k', 'error')
    const crash = '{}\n{"type":"attachment","attachment_type":"event.minidump"}\nx\n{"type":"event"}\n[]'
    expect(check(crash, limits)).toMatchObject({ kept: 1, dropped: [{ index: 1, reason: 'rate_limited' }] })
    const next = check(crash, limits)
    expect(next).toMatchObject({ kept: 0, dropped: [{ index: 0 }, { index: 1 }] })
    expect([...next.limited.keys()].sort()).toEqual(['attachment', 'error'])
  })

  test('a container counts by the number in its header, at most by what its bytes can hold', () => {
    const limits = limitsAt(0.01)
    const container = (count: unknown, bytes: number) =>
      `{}\n{"type":"log","item_count":${JSON.stringify(count)},"length":${bytes}}\n${'x'.repeat(bytes)}\n`
    const first = check(container(60, 1_000), limits)
    expect(first).toMatchObject({ kept: 1, spent: new Map() })
    // 60 and 50 of 100 in ten seconds: passes whole, and the limit is announced to the client.
    expect(check(container(1e9, 100), limits)).toMatchObject({ kept: 1, spent: new Map([['log_item', 10]]) })
    expect(check(container(1, 100), limits)).toMatchObject({ kept: 0, limited: new Map([['log_item', 10]]) })
    for (const count of [0, -1, 1.5, 'many', null, true]) {
      const one = limitsAt(0.01)
      check(container(count, 1_000), one)
      expect(one.limiter.fillOf('k', 'log_item')).toBeCloseTo(0.01)
    }
  })

  test('the quota limits events, transactions and security reports only', () => {
    const limits = limitsAt()
    limits.quotaLeft = 1
    const text =
      '{}\n{"type":"event"}\n{}\n{"type":"attachment"}\nx\n{"type":"session"}\n{}\n{"type":"client_report"}\n{}\n{"type":"log"}\n{}'
    expect(check(text, limits)).toMatchObject({ kept: 5, quotaWait: 0 })
    expect(check(text, limits)).toMatchObject({
      kept: 3,
      quotaWait: 300,
      limited: new Map(),
      dropped: [
        { index: 0, reason: 'quota' },
        { index: 1, reason: 'quota' },
      ],
    })
    expect(check('{}\n{"type":"transaction"}\n{}', limits)).toMatchObject({ kept: 0, quotaWait: 300 })
  })
})

describe('flood sampling', () => {
  const named = (name: string) => anEvent({ error: { type: name } })
  const checkNamed = (limits: Limits, name: string, key = KEY) => {
    const decoded = Buffer.from(JSON.stringify(named(name)))
    return checkEvent(limits, key, { decoded, start: 0, end: decoded.length })
  }

  test('accepts the first five events of a new kind and none of a known kind', () => {
    const limits = limitsAt(0.003)
    const results = ['Old', 'Old', 'Old', 'Old', 'Old', ...Array<string>(7).fill('New'), 'Old'].map((name) => {
      const { refused, letThrough } = checkNamed(limits, name)
      return refused?.reason ?? letThrough ?? 'passed'
    })
    expect(results).toEqual([
      'passed',
      'passed',
      'passed',
      'storm',
      'storm',
      'first',
      'again',
      'again',
      'again',
      'again',
      'storm',
      'storm',
      'storm',
    ])
  })

  test('respects the quota, and can be switched off', () => {
    const limits = limitsAt(0.001)
    checkNamed(limits, 'Old')
    expect(checkNamed(limits, 'New', { ...KEY, spikeProtection: false }).refused?.reason).toBe('rate_limited')
    limits.quotaLeft = 0
    expect(checkNamed(limits, 'New')).toMatchObject({ refused: { reason: 'quota', wait: 300 }, letThrough: null })
  })
})
