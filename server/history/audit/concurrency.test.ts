import { beforeAll, expect, test } from 'vitest'
import { aCaller, aMembership, aPerson, type Person } from '#test/kit/members.ts'
import { secondApp } from '#test/kit/second-app.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testApp } from '#test/kit/test-app.ts'
import { logIn } from '../../identity/accounts/log-in.ts'
import { DIGESTION, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../facts/kinds.ts'
import { recordFacts } from '../facts/record-facts.ts'
import { aboutIssue } from '../../issues/rows/view-issue.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { createProject } from '../../service/project-settings/create-project.ts'
import { purgeAudit } from './purge-audit.ts'
import { signHeads } from './signed-heads.ts'
import { verifyChain } from './verify-chain.ts'

const t = await testApp()
const { app } = t
const other: App = await secondApp(t)

let ada: Person
let bob: Person
let regressions: Fact[]

beforeAll(async () => {
  ada = await aPerson(app)
  bob = await aPerson(app)
  await aMembership(app, ada, { org: { id: bob.actor.orgId, slug: bob.orgSlug } })
  const perOrg = await Promise.all(
    [ada, bob].map(async ({ actor }) => {
      const { id } = await createProject(app, actor, { name: 'Shop', platform: 'web', region: 'eu-central-1' })
      const issues = await seedIssues(app, id, 5)
      return issues.map((issueId): Fact => ({
        kind: 'issue.regressed',
        ...aboutIssue({ id: issueId, project_id: id, org_id: actor.orgId }),
        sentence: 'Regressed.',
        data: { from: 'resolved', to: 'regressed' },
      }))
    }),
  )
  regressions = perOrg.flat()
})

const updated = (orgId: string): Fact => ({ kind: 'org.updated', orgId, data: { fields: [newId()] } })

/** Entries of each organisation, which must form one chain without gaps. */
async function lengths(): Promise<number[]> {
  const found = await Promise.all([ada, bob].map(({ actor }) => verifyChain(app, actor.orgId)))
  expect(found.map(({ reason }) => reason)).toEqual([null, null])
  return found.map(({ entries, last_seq }) => {
    expect(last_seq).toBe(entries)
    return entries
  })
}

test('transactions of two organisations in any order, log-ins and digestion do not deadlock', async () => {
  const before = await lengths()
  const [a, b] = [ada.actor.orgId, bob.actor.orgId]
  const orders = [[a, b], [b, a], [a, a, b], [b]]
  const work: Promise<unknown>[] = []
  for (let n = 0; n < 40; n++) {
    const on = n % 2 === 0 ? app : other
    const facts = (orders[n % orders.length] ?? []).map(updated)
    work.push(on.tx((tx) => recordFacts(tx, factContext(on, ada.actor), facts)))
    // As digestion: the facts of a fold, in two calls, with issues of both organisations.
    const issues = n % 3 === 0 ? regressions.toReversed() : regressions
    work.push(
      on.tx(async (tx) => {
        await recordFacts(tx, factContext(on, DIGESTION), issues.slice(0, 5))
        await recordFacts(tx, factContext(on, DIGESTION), issues.slice(5))
      }),
    )
    if (n % 4 === 0) work.push(logIn(on, { email: bob.email, password: bob.password }, aCaller({ ip: `192.0.${n}.1` })))
  }
  // Verifying, signing and purging run beside it.
  work.push(
    lengths(),
    signHeads(app),
    purgeAudit(app, undefined, () => Promise.resolve(app.clock.now())),
    lengths(),
    signHeads(other),
  )
  await Promise.all(work)
  const after = await lengths()
  // Ten log-ins, of which the first is from a new device.
  const wanted = [10 * (1 + 1 + 2) + 40 * 5, 10 * (1 + 1 + 1 + 1) + 40 * 5 + 10 + 1]
  expect(after.map((n, index) => n - (before[index] ?? 0))).toEqual(wanted)
})

test('an organisation whose first entries come from many transactions has one chain', async () => {
  const [eve, sue] = [await aPerson(app), await aPerson(app)]
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => {
      const on = n % 2 === 0 ? app : other
      const orgs = n % 3 === 0 ? [eve, sue] : [sue, eve]
      const facts = orgs.map(({ actor }) => updated(actor.orgId))
      return on.tx((tx) => recordFacts(tx, factContext(on, eve.actor), facts))
    }),
  )
  for (const { actor } of [eve, sue])
    expect(await verifyChain(app, actor.orgId)).toMatchObject({ ok: true, entries: 20 })
})

test('a long transaction that has recorded a fact does not hold up others until it ends', async () => {
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
  const { promise: recorded, resolve: hasRecorded } = Promise.withResolvers<void>()
  const long = app.tx(async (tx) => {
    await recordFacts(tx, factContext(app, DIGESTION), regressions)
    hasRecorded()
    await mayEnd
  })
  await recorded
  const [before = 0] = await lengths()
  await other.tx((tx) => recordFacts(tx, factContext(other, ada.actor), [updated(ada.actor.orgId)]))
  expect((await lengths())[0]).toBe(before + 1)
  end()
  await long
  expect((await lengths())[0]).toBe(before + 6)
})
