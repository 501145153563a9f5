import { random } from '#bench/payloads.ts'
import { VIEW_NAMES, VIEWS } from '#server/assistant/query/catalogue.ts'
import { checkText } from '#server/assistant/query/guard/guard-statement.ts'
import {
  type Grammar,
  isSyntaxError,
  loadGrammar,
  readStatement,
} from '#server/assistant/query/guard/read-statement.ts'
import { RefusedStatement } from '#server/assistant/query/guard/refused-statement.ts'
import { runStatement } from '#server/assistant/query/run-statement.ts'
import { BENIGN, NEUTRALISED, REFUSED } from '#server/assistant/query/guard/statements.fixture.ts'
import type { App } from '#server/platform/context/app.ts'
import { onNewDatabase } from './on-new-database.ts'
import { atLeast, atMost, none, print, type TortureArgs, type Verdict } from './torture.ts'

const CANARY = 'canary_of_another_organisation'
const OWN = '018f0000-0000-7000-8000-00000000aaaa'
const FOREIGN = '018f0000-0000-7000-8000-00000000bbbb'
const AT_ONCE = 4
const DEFAULT_MS = 45_000

/**
 * T-35. Claim: of mutated statements, none shows a row of another organisation and none changes anything, whatever passes
 * the guard; the guard itself is cheap.
 */
export function nlq({ seed, full, options }: TortureArgs): Promise<Verdict> {
  const count = Number(options['count'] ?? 100_000)
  return onNewDatabase(async ({ openApp }) => {
    const app = await openApp()
    await fill(app)
    const grammar = await loadGrammar()
    const rand = random(seed)
    const before = await state(app)
    const seen = { tried: 0, ran: 0, answered: 0, canaries: 0, guardMs: 0 }
    const until = full ? Number.POSITIVE_INFINITY : performance.now() + DEFAULT_MS
    const passed: ReturnType<typeof readStatement>[] = []
    while (seen.tried < count && (seen.tried < 1_000 || performance.now() < until)) {
      const text = mutated(rand)
      seen.tried++
      const startedMs = performance.now()
      const guarded = pass(grammar, text)
      seen.guardMs += performance.now() - startedMs
      if (guarded !== null) passed.push(guarded)
      if (passed.length < AT_ONCE) continue
      for (const shown of await Promise.all(passed.splice(0).map((one) => answerTo(app, one)))) {
        seen.ran++
        if (shown === null) continue
        seen.answered++
        if (!shown.includes(CANARY)) continue
        seen.canaries++
        print(`  shown: ${shown.slice(0, 300)}`)
      }
    }
    const after = await state(app)
    if (after !== before) print(`  before ${before}\n  after ${after}`)
    print(`  ${seen.tried} statements, ${seen.ran} passed the guard, ${seen.answered} were answered`)
    return {
      claims: [
        none('rows of another organisation', seen.canaries),
        none('changes', after === before ? 0 : 1),
        atLeast('statements tried', full ? count : 1_000, seen.tried),
        atLeast('of them answered', 100, seen.answered),
        atMost('guard per statement', 1, seen.guardMs / seen.tried, ' ms'),
      ],
    }
  })
}

function pass(grammar: Grammar, text: string): ReturnType<typeof readStatement> | null {
  try {
    checkText(text)
    return readStatement(grammar, text, OWN)
  } catch (error) {
    if (error instanceof RefusedStatement || isSyntaxError(error)) return null
    throw error
  }
}

/** The answer as text; null when the database refuses the statement. */
async function answerTo(app: App, guarded: ReturnType<typeof readStatement>): Promise<string | null> {
  try {
    return JSON.stringify(await runStatement(app, guarded, { projectId: OWN, oldestDay: '2000-01-01' }))
  } catch (error) {
    if (error instanceof RefusedStatement) return null
    throw error
  }
}

const ALL = [...REFUSED, ...NEUTRALISED, ...BENIGN].filter((text) => text.length < 1_000)
const WORDS = [
  ...VIEW_NAMES,
  ...VIEW_NAMES.flatMap((name) => VIEWS[name].columns.map((column) => column.name)),
  ...`project_id received_day ctid users pg_class public.users nlq.events '${FOREIGN}' '${FOREIGN}'::uuid or and not true union intersect except lateral ( ) , * ; -- /* */ e.* .. :: || = <> select from where with as in any exists set_config('nlq.project','${FOREIGN}',true) current_setting('nlq.project') pg_sleep(1) row_to_json(e) e.row_to_json for update limit order by group by 1 null`.split(
    ' ',
  ),
]

/** A statement of the lists with words changed, or two of them put together. */
function mutated(rand: () => number): string {
  const any = <T>(list: readonly T[], or: T): T => list[Math.floor(rand() * list.length)] ?? or
  let parts = any(ALL, '').split(/(\W)/)
  if (rand() < 0.3) {
    const other = any(ALL, '').split(/(\W)/)
    const at = Math.floor(rand() * parts.length)
    parts = [...parts.slice(0, at), ' ', ...other.slice(Math.floor(rand() * other.length)), ' ', ...parts.slice(at)]
  }
  for (let edits = Math.floor(rand() * 4); edits > 0; edits--) {
    const at = Math.floor(rand() * (parts.length + 1))
    if (rand() < 0.3) parts.splice(at, 1 + Math.floor(rand() * 3))
    else parts.splice(at, rand() < 0.5 ? 1 : 0, rand() < 0.5 ? ` ${any(WORDS, '')} ` : any(WORDS, ''))
  }
  return parts.join('')
}

/** Two organisations with a project, issues, releases and events each; the texts of the second are the canary. */
async function fill(app: App): Promise<void> {
  const days = ['2026-11-01', '2026-11-02']
  for (const day of days)
    await app.db.query(
      `create table if not exists events_${day.replaceAll('-', '_')} partition of events for values from ('${day}') to ('${day}'::date + 1)`,
    )
  for (const [project, text] of [
    [OWN, 'own'],
    [FOREIGN, CANARY],
  ] as const)
    await app.db.query(
      `with org as (insert into orgs (id, name, slug, data_key_sealed, created_at) values (gen_random_uuid(), '${text}', '${text.slice(0, 20)}', 'none', now()) returning id),
        project as (insert into projects (id, org_id, name, slug, platform, region, created_at)
          select '${project}', id, '${text}', '${text.slice(0, 20)}', 'web', 'eu-central-1', now() from org returning id, org_id),
        issue as (insert into issues (id, org_id, project_id, number, title, culprit, error_type, level, platform, status, status_changed_at,
            severity, first_seen, last_seen, event_count, is_unhandled, created_at, first_release)
          select gen_random_uuid(), org_id, id, n, '${text} ' || n, '${text}', '${text}', 'error', 'web', 'unresolved', now(), 1, now(), now(), n, true, now(), '${text}'
          from project, generate_series(1, 20) n returning id, project_id),
        groups as (insert into issue_groups (id, issue_id, first_seen, last_seen, title, culprit, level, is_unhandled)
          select id, id, now(), now(), '${text}', '${text}', 'error', true from issue),
        release as (insert into releases (id, project_id, version, created_at) select gen_random_uuid(), id, '${text}@' || n, now() from project, generate_series(1, 3) n)
      insert into events (received_day, project_id, event_id, issue_id, received_at, occurred_at, level, release, environment, user_hash, body_encoding, body_start, body_end, body)
        select d::date, project_id, gen_random_uuid(), id, d, d, 'error', '${text}', '${text}', 17, 0, 0, 2, '{}'
        from issue, unnest('{${days.join(',')}}'::timestamptz[]) d`,
    )
}

/** Things that a statement could have changed. */
async function state(app: App): Promise<string> {
  const { rows } = await app.db.query(
    `select (select count(*) from events) as events, (select md5(string_agg(i::text, ',' order by id)) from issues i) as issues,
       (select md5(string_agg(r::text, ',' order by id)) from releases r) as releases, (select count(*) from projects) as projects,
       (select count(*) from pg_class) as relations, (select count(*) from pg_proc) as functions, (select last_value from event_block_ids) as blocks,
       (select array_agg(rolname::text || rolsuper::text order by oid) from pg_roles) as roles`,
  )
  return JSON.stringify(rows)
}
