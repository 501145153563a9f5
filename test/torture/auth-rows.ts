import type { App } from '#server/platform/context/app.ts'
import type { Claim } from './torture.ts'

/**
 * Rows of `npm run torture -- auth`: attacks on accounts and sessions. A file `auth-<topic>.ts` beside this one exports
 * its rows; the frame (`auth.ts`) finds it by its name:
 *
 *     export const rows: readonly AuthRow[] = [{ id: 'T-21', summary: 'refreshes race', run: refreshRace }]
 *
 *     async function refreshRace({ app, urls, times }: AuthWorld): Promise<readonly Claim[]> {
 *       const rounds = times({ short: 5, byDefault: 50, full: 1_000 })
 *       …
 *       return [none('theft events', thefts), atMost('successors of a round', 1, most)]
 *     }
 *
 * Every row runs on its own database. `npm run torture -- auth [--row=T-21] [--seed=n] [--full]` runs it against two
 * service processes, and `auth-rows.long.test.ts` runs its short form in `npm run test:long`, against two services in one process: a
 * short form takes a few seconds and does not depend on times. All forms make the same claims.
 */
export type AuthRow = {
  /** Row of docs/reliability.md. */
  readonly id: string
  readonly summary: string
  /** Settings of the services. Without RATE_LIMIT_SCALE there are no limits. */
  readonly env?: Readonly<Record<string, string>>
  run(world: AuthWorld): Promise<readonly Claim[]>
}

export type AuthWorld = {
  /**
   * The application on the same database, to create what the row needs (`aPerson(app)`) and to read what happened. Its
   * passwords are hashed at the lowest cost; `app.config.publicUrl` is the address of the services.
   */
  readonly app: App
  readonly connectionString: string
  /** Two services on that database, each with caches of its own, for `client(url)`. They run no background jobs. */
  readonly urls: readonly [string, string]
  /** Everything that the services logged so far. */
  logs(): string
  readonly form: AuthForm
  /** Repeats a run: the same bytes in the same order. */
  readonly seed: number
  /** The number of rounds, of this form. */
  times(counts: { readonly short: number; readonly byDefault: number; readonly full: number }): number
}

/** `short` in `npm test`, `default` and `full` from the command line. */
export type AuthForm = 'short' | 'default' | 'full'

/** @see AuthWorld.times */
export const timesOf =
  (form: AuthForm): AuthWorld['times'] =>
  ({ short, byDefault, full }) =>
    ({ short, default: byDefault, full })[form]
