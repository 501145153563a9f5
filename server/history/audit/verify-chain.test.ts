import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { cases, PROPERTY_TIMEOUT_MS } from '#test/kit/properties.ts'
import { aPerson } from '#test/kit/members.ts'
import { secondApp } from '#test/kit/second-app.ts'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { addEntries } from './add-entries.ts'
import { entryTime, hashEntry, NO_HASH, type ChainedEntry, type NewEntry } from './entry.ts'
import { purgeAudit } from './purge-audit.ts'
import { signHeads, signHeadsTask } from './signed-heads.ts'
import { verifyChain } from './verify-chain.ts'
import { verifyChains } from './verify-chains.ts'
import { entriesAfter, selectHead } from './verify.queries.ts'

const t = await testApp()
const { app } = t
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

const anEntry = (orgId: string): NewEntry => ({
  id: newId(),
  org_id: orgId,
  created_at: entryTime(app.clock.now()),
  action: 'org.updated',
  event_type: null,
  actor_type: 'user',
  actor_id: newId(),
  actor_email: 'ada@example.com',
  actor_role: 'owner',
  target_type: 'org',
  target_id: orgId,
  target_label: 'Acme',
  project_id: newId(),
  ip: '192.0.2.1',
  user_agent: 'Firefox',
  request_id: 'r',
  session_id: newId(),
  outcome: 'ok',
  meta: '{"n":1}',
})

const add = (orgId: string, count = 1): Promise<void> =>
  app.tx((tx) => {
    addEntries(
      tx,
      app.auditKey,
      Array.from({ length: count }, () => anEntry(orgId)),
    )
    return Promise.resolve()
  })

/** A chain of that length, with a signed head at its end where one is asked for. */
async function aChain(length: number, signAt: readonly number[] = []): Promise<string> {
  const orgId = newId()
  let at = 0
  for (const seq of [...signAt, length]) {
    if (seq > at) await add(orgId, seq - at)
    at = seq
    if (!signAt.includes(seq)) continue
    await signHeads(app)
    // The files hold one head per hour, and the newest.
    t.clock.advance(HOUR_MS)
  }
  return orgId
}

/** Runs statements that the trigger refuses. */
async function tamper(...statements: readonly (readonly [string, readonly unknown[]])[]): Promise<void> {
  await app.tx(async (tx) => {
    await tx.query('alter table audit_log disable trigger audit_log_unchanged')
    for (const [text, values] of statements) await tx.query(text, values)
    await tx.query('alter table audit_log enable trigger audit_log_unchanged')
  })
}

const headsFolder = join(t.dataDir, 'audit-heads')

test('an untouched chain verifies, and the answer has its signed end', async () => {
  const orgId = await aChain(7, [3, 5])
  const head = await selectHead(app.db, orgId)
  const found = await verifyChain(app, orgId)
  expect(found).toMatchObject({
    ok: true,
    entries: 7,
    first_seq: 1,
    last_seq: 7,
    first_bad_seq: null,
    reason: null,
    head: { org_id: orgId, seq: 7, hash: head?.hash.toString('hex'), key_id: app.auditKey.id },
    checked_heads: 2,
  })
  expect(await verifyChain(app, newId())).toMatchObject({ ok: true, entries: 0, first_seq: null, head: null })
  // Another process has the same key.
  expect(await verifyChain(await secondApp(t), orgId)).toMatchObject({ ok: true, entries: 7 })
})

test('a long chain verifies in batches', async () => {
  const orgId = await aChain(2_500)
  const progress: number[] = []
  expect(await verifyChain(app, orgId, { onProgress: (entries) => progress.push(entries) })).toMatchObject({
    ok: true,
    entries: 2_500,
  })
  expect(progress).toEqual([1_000, 2_000, 2_500])
})

/** An attack by someone with all rights in the database, and the first place that is wrong then. */
type Attack = { readonly name: string; readonly expected: number; run(orgId: string): Promise<void> }

const LENGTH = 12

const COLUMNS: Readonly<Record<string, string>> = {
  id: 'gen_random_uuid()',
  created_at: `created_at + interval '1 microsecond'`,
  action: `'org.created'`,
  event_type: `'x'`,
  actor_type: `'system'`,
  actor_id: 'null',
  actor_email: `'eve@example.com'`,
  actor_role: 'null',
  target_type: `'user'`,
  target_id: `'x'`,
  target_label: 'null',
  project_id: 'null',
  ip: `'192.0.2.2'`,
  user_agent: `''`,
  request_id: 'null',
  session_id: 'null',
  outcome: `'denied'`,
  meta: `'{"n": 1}'`,
  prev_hash: `decode(repeat('ab', 32), 'hex')`,
  hash: `decode(repeat('ab', 32), 'hex')`,
  mac: `decode(repeat('ab', 32), 'hex')`,
}

test('the changed columns are all but the key', async () => {
  const { rows } = await app.db.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = 'audit_log'::regclass and attnum > 0`,
  )
  expect(rows.map(({ name }) => name).toSorted()).toEqual([...Object.keys(COLUMNS), 'org_id', 'seq'].toSorted())
})

/** Computes hashes from a place to the end, as the attacker can, but no HMAC. */
async function rehash(orgId: string, from: number, withHead: boolean, onlyFirst = false): Promise<void> {
  const entries = await entriesAfter(app.db, orgId, from - 2, 1_000)
  let previous: ChainedEntry | undefined
  for (const entry of entries) {
    if (entry.seq < from) {
      previous = entry
      continue
    }
    const prev_hash: Buffer = previous?.hash ?? NO_HASH
    const hash = hashEntry({ ...entry, prev_hash })
    await tamper([
      'update audit_log set prev_hash = $3, hash = $4 where org_id = $1 and seq = $2',
      [orgId, entry.seq, prev_hash, hash],
    ])
    previous = { ...entry, prev_hash, hash }
    if (onlyFirst) return
  }
  if (withHead && previous !== undefined)
    await tamper(['update audit_heads set seq = $2, hash = $3 where org_id = $1', [orgId, previous.seq, previous.hash]])
}

const setHead = (orgId: string, seq: number): readonly [string, readonly unknown[]] => [
  `update audit_heads h set seq = $2,
     hash = coalesce((select hash from audit_log l where l.org_id = h.org_id and l.seq = $2), decode(repeat('00', 32), 'hex'))
   where org_id = $1`,
  [orgId, seq],
]

const seqs = fc.integer({ min: 1, max: LENGTH })

const attacks: fc.Arbitrary<Attack> = fc.oneof(
  fc
    .record({
      k: seqs,
      column: fc.constantFrom(...Object.keys(COLUMNS)),
      how: fc.constantFrom('plain', 'own', 'rest', 'head'),
    })
    .map(({ k, column, how }): Attack => ({
      name: `change ${column} of ${k}, ${how} hashes recomputed`,
      expected: k,
      async run(orgId) {
        await tamper([`update audit_log set ${column} = ${COLUMNS[column]} where org_id = $1 and seq = $2`, [orgId, k]])
        if (how === 'plain' || column === 'mac') return
        await rehash(orgId, k, how === 'head', how === 'own')
      },
    }))
    .filter(({ name }) => !/change (prev_hash|hash) of \d+, (own|rest|head)/.test(name)),
  fc
    .record({
      k: seqs,
      count: fc.integer({ min: 1, max: LENGTH }),
      head: fc.constantFrom('left', 'moved', 'moved and used'),
      isRenumbered: fc.boolean(),
    })
    .map(({ k, count, head, isRenumbered }): Attack => ({
      name: `delete ${count} from ${k}, ${isRenumbered ? 'renumbered, ' : ''}head ${head}`,
      expected: k,
      async run(orgId) {
        const end = Math.min(k + count, LENGTH + 1)
        await tamper(
          ['delete from audit_log where org_id = $1 and seq >= $2 and seq < $3', [orgId, k, end]],
          ...(isRenumbered
            ? [
                ['update audit_log set seq = seq + 1000 where org_id = $1 and seq >= $2', [orgId, end]] as const,
                [
                  'update audit_log set seq = seq - 1000 - $3::int where org_id = $1 and seq >= $2',
                  [orgId, end, end - k],
                ] as const,
              ]
            : []),
          ...(head === 'left'
            ? []
            : [setHead(orgId, isRenumbered ? LENGTH - (end - k) : end > LENGTH ? k - 1 : LENGTH)]),
        )
        // The service continues the chain behind a head that was moved back.
        if (head === 'moved and used') await add(orgId, 2)
      },
    })),
  fc
    .record({ a: seqs, b: seqs, isRehashed: fc.boolean() })
    .filter(({ a, b }) => a < b)
    .map(({ a, b, isRehashed }): Attack => ({
      name: `swap ${a} and ${b}${isRehashed ? ', hashes recomputed' : ''}`,
      expected: a,
      async run(orgId) {
        await tamper(
          ['update audit_log set seq = 1000 where org_id = $1 and seq = $2', [orgId, a]],
          ['update audit_log set seq = $3 where org_id = $1 and seq = $2', [orgId, b, a]],
          ['update audit_log set seq = $2 where org_id = $1 and seq = 1000', [orgId, b]],
        )
        if (isRehashed) await rehash(orgId, a, true)
      },
    })),
  fc
    .record({
      k: fc.integer({ min: 1, max: LENGTH + 1 }),
      from: seqs,
      isRehashed: fc.boolean(),
      isHeadMoved: fc.boolean(),
    })
    .map(({ k, from, isRehashed, isHeadMoved }): Attack => ({
      name: `insert a copy of ${from} at ${k}${isRehashed ? ', hashes recomputed' : ''}`,
      expected: k,
      async run(orgId) {
        const source = from < k ? from : from + 1
        await tamper(
          ['update audit_log set seq = seq + 1000 where org_id = $1 and seq >= $2', [orgId, k]],
          ['update audit_log set seq = seq - 999 where org_id = $1 and seq > 1000', [orgId]],
          [
            `insert into audit_log select (jsonb_populate_record(null::audit_log, to_jsonb(l) || jsonb_build_object('seq', $2::int, 'id', gen_random_uuid()))).*
             from audit_log l where org_id = $1 and seq = $3`,
            [orgId, k, source],
          ],
          ...(isHeadMoved ? [setHead(orgId, LENGTH + 1)] : []),
        )
        if (isRehashed) await rehash(orgId, k, isHeadMoved)
      },
    })),
)

describe('T-33: whatever is done to the rows, the first bad place is named', () => {
  test(
    'changes, deletions, insertions and swaps, with and without new hashes and a new head',
    async () => {
      await fc.assert(
        fc.asyncProperty(attacks, async (attack) => {
          const orgId = await aChain(LENGTH)
          expect(await verifyChain(app, orgId)).toMatchObject({ ok: true, entries: LENGTH })
          await attack.run(orgId)
          const found = await verifyChain(app, orgId)
          expect([attack.name, found.ok, found.first_bad_seq]).toEqual([attack.name, false, attack.expected])
          expect(found.reason).toMatch(/^[A-Z].*\.$/)
          expect(found.head).toBeNull()
        }),
        { numRuns: cases(200, 2_000) },
      )
    },
    PROPERTY_TIMEOUT_MS,
  )

  test('the head of an earlier time restored with its HMAC: the signed heads outside the database find it', async () => {
    const orgId = await aChain(5)
    const { rows } = await app.db.query('select * from audit_heads where org_id = $1', [orgId])
    await add(orgId, 4)
    await signHeads(app)
    await tamper(
      ['delete from audit_log where org_id = $1 and seq > 5', [orgId]],
      ['delete from audit_heads where org_id = $1', [orgId]],
      [
        'insert into audit_heads select * from jsonb_populate_record(null::audit_heads, $1::jsonb)',
        [
          JSON.stringify(rows[0]).replace(/\{"type":"Buffer","data":\[([\d,]+)\]\}/g, (_, bytes: string) =>
            JSON.stringify(`\\x${Buffer.from(bytes.split(',').map(Number)).toString('hex')}`),
          ),
        ],
      ],
    )
    expect(await verifyChain(app, orgId)).toMatchObject({
      ok: false,
      entries: 5,
      first_bad_seq: 6,
      reason: expect.stringContaining('signed at seq 9') as string,
    })
    // Entries that the service adds do not hide it.
    await add(orgId, 6)
    expect(await verifyChain(app, orgId)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('the log was replaced') as string,
    })
  })

  test('the whole log and its head deleted', async () => {
    const orgId = await aChain(4, [4])
    await tamper(
      ['delete from audit_log where org_id = $1', [orgId]],
      ['delete from audit_heads where org_id = $1', [orgId]],
    )
    expect(await verifyChain(app, orgId)).toMatchObject({ ok: false, first_bad_seq: 1 })
  })

  test('a head without its entries, and a deleted head', async () => {
    const [first, second] = [await aChain(3), await aChain(3)]
    await app.db.query('delete from audit_heads where org_id = $1', [first])
    expect(await verifyChain(app, first)).toMatchObject({ ok: false, first_bad_seq: 3 })
    await tamper(['delete from audit_log where org_id = $1', [second]])
    expect(await verifyChain(app, second)).toMatchObject({ ok: false, first_bad_seq: 1 })
  })
})

describe('a head that was removed or changed stops nothing, and its place is named', () => {
  test.each([
    ['removed', 'delete from audit_heads where org_id = $1', 5],
    ['of an empty chain', `update audit_heads set seq = 0 where org_id = $1`, 5],
    ['lowered', 'update audit_heads set seq = 2 where org_id = $1', 5],
    ['raised', 'update audit_heads set seq = 9223372036854775807 where org_id = $1', 5],
  ])('%s', async (_, statement, expected) => {
    const orgId = await aChain(4)
    await app.db.query(statement, [orgId])
    await add(orgId, 2)
    await add(orgId)
    const { rows } = await app.db.query('select seq from audit_log where org_id = $1 order by seq', [orgId])
    expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(await verifyChain(app, orgId)).toMatchObject({ ok: false, entries: 4, first_bad_seq: expected })
  })

  test('an older one, with its HMAC', async () => {
    const orgId = await aChain(2)
    await app.db.query('create table older as select * from audit_heads where org_id = $1', [orgId])
    await add(orgId, 3)
    await app.db.query(
      'update audit_heads h set seq = o.seq, hash = o.hash, mac = o.mac from older o where h.org_id = o.org_id',
    )
    await add(orgId)
    expect(await verifyChain(app, orgId)).toMatchObject({ ok: false, entries: 5, first_bad_seq: 6 })
  })
})

describe('the files of signed heads', () => {
  const latest = join(headsFolder, 'latest.ndjson')
  const yearFile = (): string => join(headsFolder, `${t.clock.now().getUTCFullYear()}.ndjson`)
  const linesOf = (file: string, orgId: string): string[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.includes(orgId))
  const seqsIn = (file: string, orgId: string): number[] =>
    linesOf(file, orgId).map((line) => (JSON.parse(line) as { seq: number }).seq)
  const errorsOf = (orgId: string) => t.logLines.filter(({ level, org_id }) => level === 'error' && org_id === orgId)

  test('hold the newest head of each chain, and the last one of each hour', async () => {
    const orgId = await aChain(2)
    for (let minute = 0; minute < 4; minute++) {
      await signHeads(app)
      t.clock.advance(60_000)
      await signHeads(app)
      await add(orgId)
    }
    expect(seqsIn(latest, orgId)).toEqual([5])
    t.clock.advance(HOUR_MS)
    await signHeads(app)
    await signHeads(app)
    expect(seqsIn(yearFile(), orgId)).toEqual([5])
    expect(seqsIn(latest, orgId)).toEqual([6])
    expect(t.logLines.filter((line) => line['msg'] === 'audit.head' && line['org_id'] === orgId)).toHaveLength(5)
    expect(Object.keys(JSON.parse(linesOf(latest, orgId)[0] ?? '{}') as object)).toEqual([
      'created_at',
      'hash',
      'key_id',
      'org_id',
      'seq',
      'signature',
    ])
    expect(await verifyChain(app, orgId)).toMatchObject({ ok: true, checked_heads: 2, warnings: [] })
    expect(signHeadsTask.cron).toBe('* * * * *')
  })

  test('two processes do not overwrite their heads', async () => {
    const other = await secondApp(t)
    const orgIds = [await aChain(1), await aChain(1)]
    await Promise.all([signHeads(app), signHeads(other)])
    for (const orgId of orgIds) expect(seqsIn(latest, orgId)).toEqual([1])
  })

  test('a line that was changed is found', async () => {
    const orgId = await aChain(3, [3])
    const before = readFileSync(latest, 'utf8')
    const [line = ''] = linesOf(latest, orgId)
    writeFileSync(latest, before.replace(line, line.replace('"seq":3', '"seq":2')))
    expect(await verifyChain(app, orgId)).toMatchObject({
      ok: false,
      first_bad_seq: 2,
      reason: expect.stringContaining('signature') as string,
    })
    writeFileSync(latest, before)
  })

  test('a line that was cut off is reported and kept, and damages no other', async () => {
    const orgId = await aChain(4, [1, 2])
    const before = readFileSync(latest, 'utf8')
    writeFileSync(latest, `${before}{"org_id":"${orgId}","seq":`)
    const year = readFileSync(yearFile(), 'utf8')
    writeFileSync(yearFile(), `${year}{"created_at":`)
    expect(await verifyChain(app, orgId)).toMatchObject({
      ok: true,
      checked_heads: 2,
      warnings: ['2 lines of the files of signed heads cannot be read.'],
    })
    await signHeads(app)
    expect(await verifyChain(app, orgId)).toMatchObject({
      ok: true,
      checked_heads: 3,
      warnings: ['2 lines of the files of signed heads cannot be read.'],
    })
    writeFileSync(
      yearFile(),
      readFileSync(yearFile(), 'utf8').replaceAll(/^\{("created_at":|"org_id":"[^"]*","seq":)\n/gm, ''),
    )
    expect(await verifyChain(app, orgId)).toMatchObject({ ok: true, checked_heads: 3, warnings: [] })
  })

  test('missing ones are a warning', async () => {
    const orgId = await aChain(3)
    expect(await verifyChain(app, orgId)).toMatchObject({ ok: true, warnings: [] })
    await signHeads(app)
    renameSync(headsFolder, `${headsFolder}-away`)
    const found = await verifyChain(app, orgId)
    renameSync(`${headsFolder}-away`, headsFolder)
    expect(found).toMatchObject({
      ok: true,
      checked_heads: 0,
      warnings: [expect.stringContaining('Heads of this log were signed') as string],
    })
  })

  test('a head that the service did not write is not signed', async () => {
    const orgId = await aChain(3, [2])
    await tamper([`update audit_heads set mac = decode(repeat('ab', 32), 'hex') where org_id = $1`, [orgId]])
    await signHeads(app)
    await signHeads(app)
    expect(seqsIn(latest, orgId)).toEqual([2])
    expect(errorsOf(orgId)).toHaveLength(1)
  })

  test('nothing in the database prevents signing', async () => {
    const orgId = await aChain(3)
    await app.db.query('update audit_heads set is_signed = true where org_id = $1', [orgId])
    await signHeads(app)
    expect(seqsIn(latest, orgId)).toEqual([3])
  })

  test('an older head with its HMAC is not signed, also when entries of the service follow it', async () => {
    const orgId = await aChain(2)
    await app.db.query('create table old_heads as select * from audit_heads where org_id = $1', [orgId])
    await add(orgId, 3)
    await signHeads(app)
    await tamper(
      ['delete from audit_log where org_id = $1 and seq > 2', [orgId]],
      [
        'update audit_heads h set seq = o.seq, hash = o.hash, mac = o.mac from old_heads o where h.org_id = o.org_id',
        [],
      ],
    )
    await signHeads(app)
    await add(orgId, 6)
    await signHeads(app)
    expect(seqsIn(latest, orgId)).toEqual([5])
    expect(errorsOf(orgId)).toHaveLength(1)
    expect(await verifyChain(app, orgId)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('the log was replaced') as string,
    })
  })

  test('a signed place that the purge has deleted does not prevent the next', async () => {
    const orgId = await aChain(2, [2])
    t.clock.advance(366 * DAY_MS)
    await purgeAudit(app, undefined, () => Promise.resolve(app.clock.now()))
    await add(orgId)
    await signHeads(app)
    expect(seqsIn(latest, orgId)).toEqual([3])
    t.clock.set('2026-11-20T12:00:00.000Z')
  })
})

test('verifying all logs finds one that was removed from some or all tables', async () => {
  const whole = await aPerson(app)
  await add(whole.actor.orgId)
  const signed = await aChain(2, [2])
  const noHead = await aChain(2)
  const onlyCheckpoint = await aChain(2)
  await tamper(
    ...['audit_log', 'audit_heads'].map((table) => [`delete from ${table} where org_id = $1`, [signed]] as const),
    ['delete from audit_heads where org_id = $1', [noHead]],
    [
      `insert into audit_checkpoints select org_id, seq, hash, now(), decode(repeat('ab', 64), 'hex') from audit_heads where org_id = $1`,
      [onlyCheckpoint],
    ],
    ...['audit_log', 'audit_heads'].map(
      (table) => [`delete from ${table} where org_id = $1`, [onlyCheckpoint]] as const,
    ),
  )
  const lines: string[] = []
  const { chains, broken } = await verifyChains(app, (line) => lines.push(line))
  expect(chains).toBeGreaterThan(4)
  expect(broken).toBeGreaterThan(3)
  expect(lines.find((line) => line.startsWith(whole.orgSlug))).toMatch(/: ok, 1 entries/)
  for (const orgId of [signed, noHead, onlyCheckpoint])
    expect(lines.find((line) => line.startsWith(orgId))).toContain('BROKEN')
})

describe('retention', () => {
  const purge = (): Promise<void> => purgeAudit(app, undefined, () => Promise.resolve(app.clock.now()))

  afterEach(() => t.clock.set('2026-11-20T12:00:00.000Z'))

  test('deletes entries older than a year from the beginning and leaves a signed checkpoint', async () => {
    const orgId = await aChain(5, [3])
    t.clock.advance(100 * DAY_MS)
    await add(orgId, 4)
    await purge()
    expect(await verifyChain(app, orgId)).toMatchObject({ ok: true, entries: 9, first_seq: 1 })
    t.clock.advance(266 * DAY_MS)
    await purge()
    expect(await verifyChain(app, orgId)).toMatchObject({ ok: true, entries: 4, first_seq: 6, last_seq: 9 })
    t.clock.advance(100 * DAY_MS)
    await purge()
    expect(await verifyChain(app, orgId)).toMatchObject({ ok: true, entries: 0, first_seq: null, head: { seq: 9 } })
    await add(orgId)
    expect(await verifyChain(app, orgId)).toMatchObject({ ok: true, entries: 1, first_seq: 10 })
  })

  test('a checkpoint that the service did not make does not hide deleted entries', async () => {
    const orgId = await aChain(6)
    await tamper(
      [
        `insert into audit_checkpoints select org_id, seq, hash, now(), decode(repeat('ab', 64), 'hex')
         from audit_log where org_id = $1 and seq = 3`,
        [orgId],
      ],
      ['delete from audit_log where org_id = $1 and seq <= 3', [orgId]],
    )
    expect(await verifyChain(app, orgId)).toMatchObject({ ok: false, first_bad_seq: 3, entries: 0 })
  })

  test('keeps what is broken', async () => {
    const orgId = await aChain(5)
    await tamper([`update audit_log set meta = '{}' where org_id = $1 and seq = 3`, [orgId]])
    t.clock.advance(366 * DAY_MS)
    await purge()
    await purge()
    expect(await verifyChain(app, orgId)).toMatchObject({ ok: false, first_bad_seq: 3, entries: 0, first_seq: 3 })
    expect(t.logLines.some((line) => line['org_id'] === orgId && line['seq'] === 3)).toBe(true)
  })

  test('a head that was removed after all entries were deleted: the chain continues behind its checkpoint', async () => {
    const orgId = await aChain(3)
    t.clock.advance(366 * DAY_MS)
    await purge()
    await app.db.query('delete from audit_heads where org_id = $1', [orgId])
    await add(orgId)
    expect(await verifyChain(app, orgId)).toMatchObject({ ok: false, entries: 0, first_bad_seq: 4 })
  })

  test('an entry that a wrong clock dated in the future does not stay', async () => {
    const orgId = await aChain(2)
    const now = t.clock.now()
    t.clock.advance(20 * 365 * DAY_MS)
    await add(orgId, 1_100)
    t.clock.set(now)
    await add(orgId, 2)
    t.clock.advance(366 * DAY_MS)
    await add(orgId)
    await purge()
    expect(await verifyChain(app, orgId)).toMatchObject({ ok: true, entries: 1, first_seq: 1_105 })
  })

  test('a clock that is wrong deletes nothing', async () => {
    const orgId = await aChain(3)
    const databaseTime = t.clock.now()
    t.clock.advance(366 * DAY_MS)
    await purgeAudit(app, undefined, () => Promise.resolve(databaseTime))
    expect(await verifyChain(app, orgId)).toMatchObject({ ok: true, entries: 3 })
    expect(t.logLines.some(({ level, msg }) => level === 'error' && String(msg).includes('clocks'))).toBe(true)
    // The clock of these tests differs from the clock of their database.
    await purgeAudit(app)
    expect(await verifyChain(app, orgId)).toMatchObject({ ok: true, entries: 3 })
  })

  test('the setting that allows it ends with its transaction', async () => {
    const orgId = await aChain(2)
    t.clock.advance(366 * DAY_MS)
    await purge()
    await add(orgId)
    for (let n = 0; n < 6; n++)
      await expect(app.db.query('delete from audit_log where org_id = $1', [orgId])).rejects.toThrow('only takes new')
  })

  test('the files of heads that are older than the entries are removed', async () => {
    const orgId = await aChain(1, [1])
    for (const year of [2027, 2028]) {
      t.clock.set(`${year}-06-01T00:00:00Z`)
      await add(orgId)
      await signHeads(app)
    }
    expect(readdirSync(headsFolder).toSorted()).toEqual(['2027.ndjson', '2028.ndjson', 'latest.ndjson'])
  })
})
