import type { App } from '#server/platform/context/app.ts'
import { client } from '#test/kit/client.ts'
import { aPerson, type Person } from '#test/kit/members.ts'
import { addPasskey } from '#test/kit/passkeys.ts'
import { enrol } from '#test/kit/two-factor.ts'
import type { LogInOptions } from '#server/identity/passkeys/passkeys.api.ts'
import type { z } from 'zod'
import type { AuthRow, AuthWorld } from './auth-rows.ts'
import { atLeast, type Claim, none } from './torture.ts'

/** Rows about the second factor and passkeys. */
export const rows: readonly AuthRow[] = [
  {
    id: 'T-24',
    summary: 'one code, one backup code, one answer of a passkey, 20 times at once each',
    run: parallelUse,
  },
]

const PARALLEL = 20

/** How often each status was answered. */
type Tally = Map<number, number>

async function parallelUse(world: AuthWorld): Promise<readonly Claim[]> {
  const { app } = world
  const rounds = world.times({ short: 3, byDefault: 40, full: 200 })
  const wrong = { code: 0, 'backup code': 0, passkey: 0 }
  const late: string[] = []
  const odd: string[] = []
  let answers = 0
  const before = await signInsOf(app)
  const note = (kind: keyof typeof wrong, tally: Tally, refusal: number): void => {
    if (tally.get(200) !== 1) wrong[kind]++
    for (const [status, times] of tally) {
      answers += times
      if (status !== 200 && status !== refusal) odd.push(`${kind}: ${times} × ${status}`)
    }
  }
  for (let round = 0; round < rounds; round++) {
    const { person, phone, backupCodes } = await enrol(app, await aPerson(app))
    const code = phone.code()
    note('code', await logInsWith(world, person, code), 401)
    const [backupCode = ''] = backupCodes
    note('backup code', await logInsWith(world, person, backupCode), 401)
    for (const token of [code, backupCode]) {
      const again = await logInsWith(world, person, token, 1)
      if (again.get(401) !== 1) late.push(`${token.length} characters: ${[...again.keys()].join(', ')}`)
    }
    note('passkey', await passkeyLogIns(world, person), 400)
  }
  const made = (await signInsOf(app)) - before
  return [
    atLeast('answers', rounds * PARALLEL * 3, answers),
    ...Object.entries(wrong).map(([kind, times]) =>
      none(`rounds of ${rounds} in which one ${kind} began another number of sessions than one`, times),
    ),
    none(`answers other than success and refusal${listed(odd)}`, odd.length),
    none(`later uses that were not refused${listed(late)}`, late.length),
    none('sessions in the audit log beside one per code, backup code and passkey', made - rounds * 3),
  ]
}

async function signInsOf(app: App): Promise<number> {
  const { rows: found } = await app.db.query<{ n: number }>(
    `select count(*)::int as n from audit_log where action like 'signin.%.ok'`,
  )
  return found[0]?.n ?? 0
}

const listed = (texts: readonly string[]): string => (texts.length === 0 ? '' : ` (${texts.slice(0, 5).join('; ')})`)

/** To two services in turn. */
async function logInsWith({ urls }: AuthWorld, person: Person, totpToken: string, times = PARALLEL): Promise<Tally> {
  const { email, password } = person
  return tallied(times, (i) =>
    client(urls[i % 2 === 0 ? 0 : 1]).post('/api/auth/login', { email, password, totpToken }),
  )
}

/** The same answer to one challenge, from twenty copies of one browser. */
async function passkeyLogIns({ app, urls }: AuthWorld, person: Person): Promise<Tally> {
  const { passkey } = await addPasskey(app, person)
  const browser = client(urls[0])
  const options = (await browser.post('/api/auth/passkeys/login/options')).as<z.output<typeof LogInOptions>>()
  const response = passkey.answer(options)
  return tallied(PARALLEL, (i) => {
    const copy = client(urls[i % 2 === 0 ? 0 : 1])
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value)
    return copy.post('/api/auth/passkeys/login/verify', { response })
  })
}

async function tallied(times: number, send: (i: number) => Promise<{ readonly status: number }>): Promise<Tally> {
  const tally: Tally = new Map()
  for (const { status } of await Promise.all(Array.from({ length: times }, (_, i) => send(i))))
    tally.set(status, (tally.get(status) ?? 0) + 1)
  return tally
}
