/**
 * A torture is one row of docs/reliability.md. It is seeded, prints its seed, runs for at most a minute (longer with
 * `--full`), and reports for every claim what was asked, what was measured, and whether it holds.
 */

export type TortureArgs = {
  /** Repeats a run: the same moments, the same targets, the same bytes. */
  readonly seed: number
  /** Runs with the numbers of the table; the default form makes the same claims in less than a minute. */
  readonly full: boolean
  /** Further `--name=value` options; `--name` alone is `'true'`. */
  readonly options: Readonly<Record<string, string>>
}

export type Claim = {
  /** Such as '0 acknowledged events lost'. */
  readonly asked: string
  readonly measured: string
  readonly holds: boolean
}

/** The reason why it was skipped; nothing was proved then. */
export type Verdict = { readonly claims: readonly Claim[]; readonly skipped?: string }

export type Torture = {
  /** Row of docs/reliability.md. */
  readonly id: string
  readonly summary: string
  run(args: TortureArgs): Promise<Verdict>
}

/** @param holds whether the measured figure is as asked */
export const claim = (asked: string, measured: string | number, holds: boolean): Claim => ({
  asked,
  measured: String(measured),
  holds,
})

/** A figure with its bound, both in `unit`. */
export const atMost = (what: string, most: number, measured: number, unit = ''): Claim =>
  claim(`${what} ≤${most}${unit}`, `${Math.round(measured * 100) / 100}${unit}`, measured <= most)

/** Guards against a run that tried too little. */
export const atLeast = (what: string, least: number, measured: number): Claim =>
  claim(`${what} ≥${least}`, measured, measured >= least)

/** Something that must not happen. */
export const none = (what: string, count: number): Claim => claim(`0 ${what}`, count, count === 0)

export const skip = (reason: string): Verdict => ({ claims: [], skipped: reason })

/** A line of progress. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
