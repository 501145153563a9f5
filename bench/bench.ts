/**
 * A bench is a file `bench/<name>.ts` that exports `run` and `summary` and is listed in `bench/run.ts`. It
 * measures and returns its figures; the runner prints and records them. It asserts nothing: machines are noisy.
 */

export type BenchArgs = {
  /** `--long`: runs minutes instead of seconds. */
  readonly long: boolean
  /** Further `--name=value` options; `--name` alone is `'true'`. */
  readonly options: Readonly<Record<string, string>>
}

export type Figure = {
  readonly value: number
  /** 'events/s', 'ms', 'MiB', … */
  readonly unit: string
  /** The goal in the terms of the design: '≥10,000/s (P1)'. */
  readonly goal?: string
  /** The same figure of another checkout, measured in turns. */
  readonly before?: Before
}

export type Before = {
  readonly value: number
  /** This checkout divided by the other, for each pair. */
  readonly ratios: readonly number[]
}

export type BenchResult = {
  readonly figures: Readonly<Record<string, Figure>>
  /** The sent or stored data: sizes, encodings, how many issues. */
  readonly payload?: string
  /** fsync and synchronous_commit of the database measured; absent when there was none. */
  readonly durability?: string
  /** Version of the database measured. */
  readonly postgres?: string
  /** Facts that a reader must know to judge the figures. */
  readonly notes?: readonly string[]
}

export type Bench = {
  /** One line for `npm run bench -- --help`. */
  readonly summary: string
  run(args: BenchArgs): Promise<BenchResult>
}

/** Median of measurements. @throws Error for none */
export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

/** Nearest-rank percentile, 0 < p ≤ 100. @throws Error for no values */
export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const value = sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)]
  if (value === undefined) throw new Error('nothing was measured')
  return value
}
