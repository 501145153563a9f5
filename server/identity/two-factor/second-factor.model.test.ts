import fc from 'fast-check'
import { expect, test } from 'vitest'
import { aCaller, aPerson } from '#test/kit/members.ts'
import { cases, PROPERTY_TIMEOUT_MS } from '#test/kit/properties.ts'
import { testApp } from '#test/kit/test-app.ts'
import { authenticatorApp, type AuthenticatorApp } from '#test/kit/two-factor.ts'
import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { lockUser } from '../auth/auth.queries.ts'
import { readAccessToken } from '../auth/access-token.ts'
import { newBackupCodes } from './backup-codes.ts'
import { disableTwoFactor } from './disable-two-factor.ts'
import { checkSecondFactor, consumeSecondFactor } from './second-factor.ts'
import { setUpTwoFactor } from './set-up-two-factor.ts'
import { countUnusedCodes, readFactor, replaceCodes } from './two-factor.queries.ts'
import { verifyTwoFactor } from './verify-two-factor.ts'

/** Codes and backup codes against the rules of their use, written down a second time. */

const t = await testApp({ env: { RATE_LIMIT_SCALE: '0' } })
const STEP_MS = 30_000

type Model = {
  /** Steps passed since the start. */
  now: number
  /** Whether a setup waits for its code. */
  isSetUp: boolean
  isOn: boolean
  /** Steps up to this one are refused. */
  usedStep: number
  /** Codes of the set that were used, by their place. */
  used: Set<number>
  /** Steps whose code was accepted, of this factor: none twice. */
  accepted: Set<number>
}

type Real = {
  readonly app: App
  actor: SessionActor
  phone: AuthenticatorApp | null
  codes: readonly string[]
  /** Codes of sets that were replaced, and of factors that were turned off. */
  readonly oldCodes: string[]
  readonly oldPhones: AuthenticatorApp[]
}

type Command = fc.AsyncCommand<Model, Real>

const command = (
  name: string,
  run: (model: Model, real: Real) => Promise<void>,
  check: (model: Readonly<Model>) => boolean = () => true,
): Command => ({ check, run, toString: () => name })

/** Whether a sign-in with this token succeeds; null when it is asked for one. */
async function signIn({ app, actor }: Real, token: string | undefined): Promise<boolean | null> {
  try {
    const factor = await checkSecondFactor(app, actor.userId, token, aCaller())
    if (factor === null) return null
    return await app.tx(async (tx) => {
      const user = await lockUser(tx, actor.userId)
      if (user === null) throw new Error('no user')
      await consumeSecondFactor(tx, app, { user, orgId: actor.orgId }, factor, aCaller())
      return true
    })
  } catch (error) {
    expect(error).toMatchObject({ code: 'unauthenticated' })
    return false
  }
}

const codeOf = (phone: AuthenticatorApp, offset: number) =>
  phone.code(new Date(t.clock.now().getTime() + offset * STEP_MS))

const passes = (steps: number) =>
  command(`${steps} steps pass`, (model) => {
    model.now += steps
    t.clock.advance(steps * STEP_MS)
    return Promise.resolve()
  })

const setsUp = () =>
  command('a setup', async (model, real) => {
    if (model.isOn) {
      await expect(setUpTwoFactor(real.app, real.actor, undefined)).rejects.toMatchObject({ code: 'conflict' })
      return
    }
    const { otpauthUrl, backupCodes } = await setUpTwoFactor(real.app, real.actor, undefined)
    retire(real)
    real.phone = authenticatorApp(real.app, otpauthUrl)
    real.codes = backupCodes
    model.isSetUp = true
  })

function retire(real: Real): void {
  real.oldCodes.push(...real.codes)
  if (real.phone !== null) real.oldPhones.push(real.phone)
}

const verifies = (offset: number) =>
  command(`the setup is verified with the code of step ${offset}`, async (model, real) => {
    const { phone } = real
    const token = phone === null ? '000000' : codeOf(phone, offset)
    const verifying = verifyTwoFactor(real.app, real.actor, token)
    if (!model.isSetUp) {
      await expect(verifying).rejects.toMatchObject({ code: 'conflict' })
    } else if (Math.abs(offset) > 1) {
      await expect(verifying).rejects.toMatchObject({ code: 'invalid' })
    } else {
      const { sid } = await readAccessToken(real.app, (await verifying).accessToken)
      real.actor = { ...real.actor, sessionId: sid }
      const enrolledStep = model.now + offset
      const usedStep = real.app.config.totpStrict ? enrolledStep : enrolledStep - 1
      Object.assign(model, { isSetUp: false, isOn: true, usedStep, used: new Set(), accepted: new Set() })
    }
  })

const logsIn = (offset: number, parallel: number) =>
  command(`${parallel} log-ins with the code of step ${offset}`, async (model, real) => {
    const token = real.phone === null ? '000000' : codeOf(real.phone, offset)
    const results = await Promise.all(Array.from({ length: parallel }, () => signIn(real, token)))
    if (!model.isOn) {
      expect(results).toEqual(results.map(() => true))
      return
    }
    const step = model.now + offset
    const isValid = Math.abs(offset) <= 1 && step > model.usedStep
    expect(results.filter((result) => result === true)).toHaveLength(isValid ? 1 : 0)
    if (!isValid) return
    expect(model.accepted.has(step)).toBe(false)
    model.accepted.add(step)
    model.usedStep = step
  })

const logsInWithBackupCode = (place: number, parallel: number) =>
  command(`${parallel} log-ins with backup code ${place}`, async (model, real) => {
    const token = real.codes[place] ?? '0000000000'
    const results = await Promise.all(Array.from({ length: parallel }, () => signIn(real, token)))
    const succeed = !model.isOn ? parallel : model.used.has(place) ? 0 : 1
    expect(results.filter((result) => result === true)).toHaveLength(succeed)
    if (model.isOn) model.used.add(place)
  })

const logsInWithOldOnes = () =>
  command(
    'log-ins with a code of an earlier app, and with a backup code of an earlier set',
    async (_model, real) => {
      const [phone, code] = [real.oldPhones.at(-1), real.oldCodes.at(-1)]
      if (phone !== undefined) expect(await signIn(real, codeOf(phone, 0))).toBe(false)
      if (code !== undefined) expect(await signIn(real, code)).toBe(false)
    },
    ({ isOn }) => isOn,
  )

const logsInWithout = () =>
  command('a log-in without a code', async (model, real) => {
    expect(await signIn(real, undefined)).toBe(model.isOn ? null : true)
  })

const replacesCodes = () =>
  command(
    'new backup codes',
    async (model, real) => {
      const factor = await readFactor(real.app.db, real.actor.userId)
      const { codes, salt, hashes } = await newBackupCodes(real.app)
      await real.app.tx((tx) => replaceCodes(tx, factor?.id ?? '', salt, hashes))
      real.oldCodes.push(...real.codes)
      real.codes = codes
      model.used.clear()
    },
    ({ isOn }) => isOn,
  )

const turnsOff = (password: string) =>
  command('it is turned off', async (model, real) => {
    const disabling = disableTwoFactor(real.app, real.actor, password)
    if (!model.isOn) {
      await expect(disabling).rejects.toMatchObject({ code: 'conflict' })
      return
    }
    const { sid } = await readAccessToken(real.app, (await disabling).accessToken)
    real.actor = { ...real.actor, sessionId: sid }
    retire(real)
    Object.assign(real, { phone: null, codes: [] })
    Object.assign(model, { isSetUp: false, isOn: false })
  })

const countsCodes = () =>
  command(
    'the unused backup codes are counted',
    async (model, real) => {
      const factor = await readFactor(real.app.db, real.actor.userId)
      expect(await countUnusedCodes(real.app.db, factor?.id ?? '')).toBe(10 - model.used.size)
    },
    ({ isOn }) => isOn,
  )

const offset = fc.constantFrom(-2, -1, -1, 0, 0, 0, 1, 1, 2)
const parallel = fc.constantFrom(1, 1, 1, 3)
const person = await aPerson(t.app)

const commands = fc.commands<Model, Real, false>(
  [
    fc.constantFrom(1, 1, 2, 5).map(passes),
    fc.constant(setsUp()),
    offset.map(verifies),
    fc.constant(verifies(0)),
    fc.tuple(offset, parallel).map(([one, times]) => logsIn(one, times)),
    fc.tuple(offset, parallel).map(([one, times]) => logsIn(one, times)),
    fc.tuple(fc.nat({ max: 9 }), parallel).map(([place, times]) => logsInWithBackupCode(place, times)),
    fc.constant(logsInWithOldOnes()),
    fc.constant(logsInWithout()),
    fc.constant(replacesCodes()),
    fc.constant(turnsOff(person.password)),
    fc.constant(countsCodes()),
  ],
  { maxCommands: 40, size: 'max' },
)

test(
  'T-45: whatever is set up, verified, used, replaced and turned off, a code is accepted once and only in its time',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.boolean(), commands, async (totpStrict, sequence) => {
        const app: App = { ...t.app, config: { ...t.app.config, totpStrict } }
        const one = await aPerson(app)
        await fc.asyncModelRun(
          () => ({
            model: {
              now: 0,
              isSetUp: false,
              isOn: false,
              usedStep: -Infinity,
              used: new Set<number>(),
              accepted: new Set<number>(),
            },
            real: { app, actor: one.actor, phone: null, codes: [], oldCodes: [], oldPhones: [] },
          }),
          sequence,
        )
      }),
      { numRuns: cases(40, 3_000) },
    )
  },
  PROPERTY_TIMEOUT_MS,
)
