import { randomUUID } from 'node:crypto'
import type { App } from '../context/app.ts'
import { withinGrace } from '../kernel/abortable.ts'
import { CANARY_ORG_ID } from '../kernel/ids.ts'
import type { AttemptResult, Channel, ClaimedDelivery, Send } from './channel.ts'
import { OUTBOX_TOPIC } from './delivery.ts'
import {
  claimDeliveries,
  endAbandoned,
  giveBackLeases,
  giveBackRates,
  selectDue,
  type ClaimedRow,
} from './engine.queries.ts'
import type { InHand } from './in-hand.ts'
import { makeAttempt, StopError, createNotSent } from './make-attempt.ts'
import { createOutage } from './outage.ts'
import { endDeliveries, endErased } from './outbox.queries.ts'
import { createSettler } from './settler.ts'
import { createWaker, pause } from './waker.ts'
import { publishLive } from '../live/publish.ts'

const LEASE_MS = 30_000
/** The share of a lease that an attempt may take; the rest is for recording its result. */
const MAX_SHARE_OF_LEASE = 5 / 6
/** The share of a lease that must be left beyond the timeout when an attempt begins. */
const MARGIN_SHARE_OF_LEASE = 1 / 15
const POLL_MS = 250
/** Claims follow each other at this distance: each costs the database as much for one delivery as for many. */
const CLAIM_INTERVAL_MS = 30
const MAX_CLAIMED = 250
/** In flight in this process; the reserve is for lanes with fewer than 2 in flight. */
const MAX_IN_FLIGHT = 1_000
const RESERVE = 200
const MAX_PER_ORG = MAX_IN_FLIGHT / 2
/** After an outage of the database, workers have this time to record results before others take over their leases. */
const OUTAGE_GRACE_MS = 3_000
/** A delivery whose channel could not prepare it waits this long. */
const PREPARE_RETRY_MS = 1_000
/** Deliveries of a closed lane that one statement ends. */
const MAX_ENDED = 1_000

/** Without what belongs to the canary. */
export type DelivererFigures = {
  readonly inFlight: number
  /** Attempts recorded since the start, by channel. */
  readonly attempts: ReadonlyMap<string, Readonly<Record<AttemptResult['outcome'], number>>>
  /** Deliveries given back since the start because their channel could not send them yet, by channel. */
  readonly notSent: ReadonlyMap<string, number>
}

type Deliverer = {
  figures(): DelivererFigures
  /**
   * Stops claiming, lets attempts end for half of `graceMs`, gives the others back and records what ended. What cannot be
   * recorded in time is repeated when its lease has ended.
   */
  stop(graceMs: number): Promise<void>
}

/**
 * Sends what is due until stopped. Wakes when deliveries are committed, and polls; continues by itself after an outage of
 * the database. All that matters is in the database: a worker that is killed loses nothing.
 * @param leaseMs how long a killed worker's deliveries wait; longer than the timeouts of the channels
 */
export function startDeliverer(
  app: App,
  channels: readonly Channel[],
  { leaseMs = LEASE_MS }: { readonly leaseMs?: number } = {},
): Deliverer {
  for (const { name, timeoutMs } of channels)
    if (timeoutMs > leaseMs * MAX_SHARE_OF_LEASE)
      throw new Error(`the timeout of channel ${name} does not fit into a lease`)
  const byName = new Map(channels.map((channel) => [channel.name, channel]))
  const names = [...byName.keys()]
  const sums = new Map(names.map((name) => [name, { delivered: 0, failed: 0 }]))
  const inHand = new Map<string, InHand>()
  const stopping = new AbortController()
  const waker = createWaker()
  const live = createLivePublisher(app)

  const settler = createSettler(app, inHand, (recorded, fenced) => {
    for (const { delivery } of [...recorded, ...fenced]) inHand.delete(delivery.id)
    for (const { delivery, channel, ended } of recorded) {
      const sum = sums.get(channel.name)
      if (sum !== undefined && ended !== null && delivery.orgId !== CANARY_ORG_ID) sum[ended.result.outcome]++
      live.changed(channel, delivery.orgId, delivery.laneId)
    }
    // Their places are free; strict lanes continue.
    waker.wake()
  })

  /** Gives leases back. Without the database they end by themselves. */
  const release = async (given: readonly InHand[], delayMs: number): Promise<void> => {
    const entries = given.filter((entry) => inHand.get(entry.delivery.id) === entry)
    if (entries.length === 0) return
    const leases = entries.map(({ delivery, token }) => ({ id: delivery.id, token }))
    for (const { delivery } of entries) inHand.delete(delivery.id)
    const firsts = entries.filter(({ delivery }) => delivery.n === 1 && delivery.trigger === 'schedule')
    await giveBackLeases(app.db, leases, delayMs)
      .then(() =>
        giveBackRates(
          app.db,
          firsts.map(({ delivery }) => delivery.laneId),
        ),
      )
      .catch(() => {})
  }
  const notSent = createNotSent(app, release)

  const attempt = async (entry: InHand, send: Send): Promise<void> => {
    const result = await makeAttempt(entry.delivery, send, entry.channel.timeoutMs, entry.abort)
    if (result === 'stopped') return
    if (result === 'not_sent') return notSent.add(entry)
    notSent.made(entry.delivery.laneId)
    entry.ended = { result, endedMs: performance.now() }
    settler.ended()
  }

  const dispatch = async (channel: Channel, entries: readonly InHand[]): Promise<void> => {
    const batch = entries.map(({ delivery }) => delivery)
    let send: Send
    try {
      send = await channel.prepare(app, batch)
    } catch (error) {
      app.log.error({ err: error, channel: channel.name, deliveries: batch.length }, 'a channel could not prepare')
      return release(entries, PREPARE_RETRY_MS)
    }
    // An attempt that outlives its lease would be made twice.
    const latestMs = performance.now() + channel.timeoutMs + leaseMs * MARGIN_SHARE_OF_LEASE
    const late = entries.filter(({ claimedMs }) => claimedMs + leaseMs < latestMs)
    for (const entry of entries) if (!late.includes(entry)) void attempt(entry, send)
    if (late.length === 0) return
    app.log.warn({ channel: channel.name, deliveries: late.length }, 'a channel took too long to prepare')
    await release(late, PREPARE_RETRY_MS)
  }

  const accept = (row: ClaimedRow, token: string, claimedMs: number): InHand[] => {
    const known = inHand.get(row.id)
    if (known !== undefined) {
      // The lease seemed to have ended, because the database's clock jumped: the attempt continues under the new one.
      known.token = token
      known.claimedMs = claimedMs
      return []
    }
    const channel = byName.get(row.channel)
    if (channel === undefined || row.body === null) return []
    const entry = {
      delivery: claimedOf(row, row.body),
      channel,
      token,
      claimedMs,
      abort: new AbortController(),
      failures: 0,
      retryMs: 0,
      ended: null,
    }
    inHand.set(row.id, entry)
    return [entry]
  }

  /** @returns number of deliveries */
  const claim = async (leasesEndedBy: number): Promise<number> => {
    const token = randomUUID()
    const claimedMs = performance.now()
    const orgs = new Map<string, number>()
    for (const { delivery } of inHand.values()) orgs.set(delivery.orgId, (orgs.get(delivery.orgId) ?? 0) + 1)
    const rows = await claimDeliveries(app.db, {
      token,
      leaseMs,
      channels: names,
      free: MAX_IN_FLIGHT - inHand.size,
      freeWithReserve: MAX_IN_FLIGHT + RESERVE - inHand.size,
      orgs,
      maxPerOrg: MAX_PER_ORG,
      maxRows: MAX_CLAIMED,
      leasesEndedBy,
    })
    const entries = rows.flatMap((row) => accept(row, token, claimedMs))
    for (const [channel, ofChannel] of Map.groupBy(entries, (entry) => entry.channel)) void dispatch(channel, ofChannel)
    await endErasedOf(app, rows, token)
    return rows.length
  }

  const claimUntilStopped = async (): Promise<void> => {
    const outage = createOutage(app, 'claiming deliveries', stopping.signal)
    const leaseClock = createLeaseClock(leaseMs)
    let lookedAtMs = -Infinity
    const leasesEndedBy = (): number => {
      const nowMs = performance.now()
      // After an outage the others record first what they have.
      const isGrace = outage.isAway() || nowMs - outage.endedMs() < OUTAGE_GRACE_MS
      return isGrace ? -Infinity : leaseClock.endedBy(nowMs)
    }
    /** @returns time to wait, unless woken */
    const step = async (isWoken: boolean, nowMs: number): Promise<number> => {
      // A worker is woken when something is due.
      if (!isWoken || nowMs - lookedAtMs >= POLL_MS) {
        lookedAtMs = nowMs
        const askedMs = performance.now()
        const endedBy = leasesEndedBy()
        const { waitMs, databaseMs, abandonedLaneIds, closedLaneIds } = await selectDue(app.db, names, endedBy)
        if (databaseMs !== null) leaseClock.observe(databaseMs, askedMs)
        for (const laneId of abandonedLaneIds) await endAbandoned(app.db, laneId, endedBy)
        for (const laneId of closedLaneIds) await endDeliveries(app.db, laneId, MAX_ENDED, endedBy)
        if (waitMs === null || waitMs > 0) return Math.min(POLL_MS, waitMs ?? POLL_MS)
      }
      if (inHand.size >= MAX_IN_FLIGHT + RESERVE) return POLL_MS
      const claimed = await claim(leasesEndedBy())
      // Nothing, though something is due: it waits for a bound of its lane.
      return claimed > 0 || isWoken ? 0 : POLL_MS
    }
    let waitMs = 0
    while (!stopping.signal.aborted) {
      const isWoken = await waker.wait(waitMs, stopping.signal)
      const startedMs = performance.now()
      await outage.guard(async () => {
        waitMs = await step(isWoken, startedMs)
      })
      await pause(startedMs + CLAIM_INTERVAL_MS - performance.now(), stopping.signal)
    }
  }

  const offs = [app.bus.on(OUTBOX_TOPIC, () => waker.wake()), app.bus.onGap(() => waker.wake())]
  const claiming = claimUntilStopped()
  const isIdle = async (): Promise<void> => {
    while (inHand.size > 0) await pause(CLAIM_INTERVAL_MS)
  }

  return {
    figures: () => ({
      inFlight: [...inHand.values()].filter(({ delivery }) => delivery.orgId !== CANARY_ORG_ID).length,
      attempts: sums,
      notSent: notSent.counts,
    }),
    async stop(graceMs) {
      for (const off of offs) off()
      stopping.abort()
      await withinGrace(
        graceMs / 2,
        claiming.then(() => isIdle()),
      )
      const unfinished = [...inHand.values()].filter(({ ended }) => ended === null)
      for (const { abort } of unfinished) abort.abort(new StopError())
      await withinGrace(graceMs / 2, Promise.all([release(unfinished, 0), settler.idle()]))
      settler.close()
      live.close()
    },
  }
}

const claimedOf = (row: ClaimedRow, body: Buffer): ClaimedDelivery => ({
  id: row.id,
  laneId: row.laneId,
  orgId: row.orgId,
  messageId: row.messageId,
  type: row.type,
  body,
  secretVersion: row.secretVersion,
  trigger: row.isReplay ? 'replay' : 'schedule',
  n: row.attemptsMade + 1,
})

/** Ends deliveries whose message was erased while they were in the hands of a worker that ended. */
async function endErasedOf(app: App, rows: readonly ClaimedRow[], token: string): Promise<void> {
  const erased = rows.filter(({ body }) => body === null)
  if (erased.length === 0) return
  await app.tx(async (tx) => {
    await giveBackLeases(
      tx,
      erased.map(({ id }) => ({ id, token })),
      0,
    )
    await endErased(
      tx,
      erased.map(({ messageId }) => messageId),
    )
  })
}

/** A clock of the database that is further ahead of its observed pace has jumped. */
const SLACK_MS = 2_000

/** A worker's knowledge of the database's clock: a jump must not end the leases of other workers. */
type LeaseClock = {
  /**
   * A look at the clock of the database.
   * @param askedMs when the database was asked, on `performance.now()`
   */
  observe(databaseMs: number, askedMs: number): void
  /** The leases that ended before this time of the database are abandoned; none before the first look. */
  endedBy(nowMs: number): number
}

/**
 * After a jump forward the clock counts on at its pace for one lease: by then every lease from before has really ended. A
 * jump backward counts immediately; leases last longer by it.
 */
export function createLeaseClock(leaseMs: number): LeaseClock {
  let base: { readonly databaseMs: number; readonly askedMs: number } | null = null
  /** The jump that is observed: since when, and how far. */
  let jump: { readonly sinceMs: number; readonly byMs: number } | null = null
  const expectedMs = (nowMs: number): number => (base === null ? -Infinity : base.databaseMs + nowMs - base.askedMs)
  return {
    observe(databaseMs, askedMs) {
      const aheadMs = databaseMs - expectedMs(askedMs)
      if (base !== null && aheadMs > 0) {
        if (aheadMs <= SLACK_MS) jump = null
        else if (jump === null || aheadMs > jump.byMs + SLACK_MS) jump = { sinceMs: askedMs, byMs: aheadMs }
        if (jump === null || askedMs - jump.sinceMs < leaseMs) return
      }
      base = { databaseMs, askedMs }
      jump = null
    },
    endedBy: (nowMs) => expectedMs(nowMs) + SLACK_MS,
  }
}

/** Between two messages to an organisation. */
const INTERVAL_MS = 1_000

type LivePublisher = {
  /** Deliveries of a lane changed. */
  changed(channel: Channel, orgId: string, laneId: string): void
  close(): void
}

/** Publishes that deliveries changed: the first change of an organisation at once, the others at most once a second. */
export function createLivePublisher(app: App): LivePublisher {
  const waiting = new Map<string, Map<Channel, Set<string>>>()
  /** Until the next message of the organisation. */
  const timers = new Map<string, NodeJS.Timeout>()

  const send = (orgId: string): void => {
    const byChannel = waiting.get(orgId)
    waiting.delete(orgId)
    if (byChannel === undefined) return void timers.delete(orgId)
    const messages = [...byChannel].flatMap(([channel, laneIds]) => channel.live?.([...laneIds]) ?? [])
    // A lost message costs freshness.
    publishLive(
      app.db,
      messages.map((message) => ({ orgId, message })),
    ).catch(() => {})
    timers.set(
      orgId,
      setTimeout(() => send(orgId), INTERVAL_MS),
    )
  }

  return {
    changed(channel, orgId, laneId) {
      if (channel.live === undefined) return
      const byChannel = waiting.get(orgId) ?? new Map<Channel, Set<string>>()
      waiting.set(orgId, byChannel)
      const laneIds = byChannel.get(channel) ?? new Set()
      byChannel.set(channel, laneIds.add(laneId))
      if (timers.has(orgId)) return
      // After what else changes now.
      timers.set(
        orgId,
        setTimeout(() => send(orgId), 0),
      )
    },
    close() {
      for (const timer of timers.values()) clearTimeout(timer)
    },
  }
}
