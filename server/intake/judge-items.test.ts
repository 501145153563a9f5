import { floodGrouping } from '../grouping/flood-grouping.ts'
import { groupingSettings } from '../grouping/grouping-settings.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { anEvent } from '#test/kit/sdk.ts'
import { createRateLimiter } from '../limits/rate-limiter.ts'
import { createFloodSampling } from '../limits/flood-sampling.ts'
import { parseEnvelope } from '../protocol/envelope.ts'
import { judgeEvent, judgeItems, type Judges, type LimitedKey } from './judge-items.ts'

let ms = 0
beforeEach(() => {
  ms = 1_000_000
})

function judgesAt(scale = 1): Judges & { quotaLeft: number } {
  const nowMs = () => ms
  const judges = {
    limiter: createRateLimiter({ scale, loopbackExempt: false, nowMs }),
    floods: createFloodSampling(nowMs),
    quotaLeft: Number.POSITIVE_INFINITY,
    quota: {
      take: () => (judges.quotaLeft-- > 0 ? 0 : 300),
      flush: () => Promise.resolve(),
      close: () => Promise.resolve(),
    },
  }
  return judges
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

const judge = (text: string, judges: Judges = judgesAt(), key = KEY) => {
  const decoded = Buffer.from(text)
  return judgeItems(judges, key, decoded, parseEnvelope(decoded).items)
}

describe('items of an envelope', () => {
  test('past the number of their type are dropped', () => {
    const { dropped, kept } = judge(`{}\n${'{"type":"attachment"}\nx\n'.repeat(31)}`)
    expect(kept).toBe(30)
    expect(dropped).toEqual([{ index: 30, reason: 'too_large' }])
  })

  test('a second event is neither kept nor a reason to refuse', () => {
    expect(judge('{}\n{"type":"event"}\n{}\n{"type":"event"}\n{}')).toMatchObject({ kept: 1, dropped: [] })
  })

  test('attachments of a limited event go with it without limiting attachments', () => {
    const judges = judgesAt(0.001)
    judges.limiter.takeItem('k', 'error')
    const { dropped, kept, limited } = judge(
      '{}\n{"type":"attachment"}\nx\n{"type":"event"}\n[]\n{"type":"session"}\n{}',
      judges,
    )
    expect(dropped.map(({ index }) => index)).toEqual([0, 1])
    expect(kept).toBe(1)
    expect([...limited.keys()]).toEqual(['error'])
  })

  test('a minidump of a limited event stays, within the limit of attachments', () => {
    const judges = judgesAt(0.001)
    judges.limiter.takeItem('k', 'error')
    const crash = '{}\n{"type":"attachment","attachment_type":"event.minidump"}\nx\n{"type":"event"}\n[]'
    expect(judge(crash, judges)).toMatchObject({ kept: 1, dropped: [{ index: 1, reason: 'rate_limited' }] })
    const next = judge(crash, judges)
    expect(next).toMatchObject({ kept: 0, dropped: [{ index: 0 }, { index: 1 }] })
    expect([...next.limited.keys()].sort()).toEqual(['attachment', 'error'])
  })

  test('a container counts by what its header claims, within what its bytes can hold', () => {
    const judges = judgesAt(0.01)
    const container = (count: unknown, bytes: number) =>
      `{}\n{"type":"log","item_count":${JSON.stringify(count)},"length":${bytes}}\n${'x'.repeat(bytes)}\n`
    const first = judge(container(60, 1_000), judges)
    expect(first).toMatchObject({ kept: 1, spent: new Map() })
    // 60 and 50 of 100 in ten seconds: passes whole, and the client is told to hold back.
    expect(judge(container(1e9, 100), judges)).toMatchObject({ kept: 1, spent: new Map([['log_item', 10]]) })
    expect(judge(container(1, 100), judges)).toMatchObject({ kept: 0, limited: new Map([['log_item', 10]]) })
    for (const count of [0, -1, 1.5, 'many', null, true]) {
      const one = judgesAt(0.01)
      judge(container(count, 1_000), one)
      expect(one.limiter.fillOf('k', 'log_item')).toBeCloseTo(0.01)
    }
  })

  test('the quota holds events, transactions and security reports, nothing else, and says whose it is', () => {
    const judges = judgesAt()
    judges.quotaLeft = 1
    const text =
      '{}\n{"type":"event"}\n{}\n{"type":"attachment"}\nx\n{"type":"session"}\n{}\n{"type":"client_report"}\n{}\n{"type":"log"}\n{}'
    expect(judge(text, judges)).toMatchObject({ kept: 5, quotaWait: 0 })
    expect(judge(text, judges)).toMatchObject({
      kept: 3,
      quotaWait: 300,
      limited: new Map(),
      dropped: [
        { index: 0, reason: 'quota' },
        { index: 1, reason: 'quota' },
      ],
    })
    expect(judge('{}\n{"type":"transaction"}\n{}', judges)).toMatchObject({ kept: 0, quotaWait: 300 })
  })
})

describe('a storm', () => {
  const named = (name: string) => anEvent({ error: { type: name } })
  const judgeNamed = (judges: Judges, name: string, key = KEY) => {
    const decoded = Buffer.from(JSON.stringify(named(name)))
    return judgeEvent(judges, key, { decoded, start: 0, end: decoded.length })
  }

  test('lets the first five events of a new kind through, and no more of what had come already', () => {
    const judges = judgesAt(0.003)
    const verdicts = ['Old', 'Old', 'Old', 'Old', 'Old', ...Array<string>(7).fill('New'), 'Old'].map((name) => {
      const { refused, letThrough } = judgeNamed(judges, name)
      return refused?.reason ?? letThrough ?? 'passed'
    })
    expect(verdicts).toEqual([
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

  test('does not go round the quota, and can be switched off', () => {
    const judges = judgesAt(0.001)
    judgeNamed(judges, 'Old')
    expect(judgeNamed(judges, 'New', { ...KEY, spikeProtection: false }).refused?.reason).toBe('rate_limited')
    judges.quotaLeft = 0
    expect(judgeNamed(judges, 'New')).toMatchObject({ refused: { reason: 'quota', wait: 300 }, letThrough: null })
  })
})
