import { hash as digestOf } from 'node:crypto'

/** Properties by which sessions and events of an app are counted. */
export const DIMENSIONS = ['release', 'environment', 'os', 'device', 'device_class'] as const
export type Dimension = (typeof DIMENSIONS)[number]

/** Values of all dimensions; empty when unknown. `os` is a name without version, `device` a model. */
export type Attributes = Readonly<Record<Dimension, string>>

/**
 * The ways in which rollups count everything once. Rows of two levels must never be added: each level already counts
 * all sessions and events.
 */
export const LEVELS = [
  'all',
  'release',
  'environment',
  'os',
  'device',
  'device_class',
  'release_environment',
  'combination',
] as const
export type Level = (typeof LEVELS)[number]

/** The number of a level in tables. */
export const levelNumber = (level: Level): number => LEVELS.indexOf(level)

/** The dimensions of a level. */
export const LEVEL_DIMENSIONS: Readonly<Record<Level, readonly Dimension[]>> = {
  all: [],
  release: ['release'],
  environment: ['environment'],
  os: ['os'],
  device: ['device'],
  device_class: ['device_class'],
  release_environment: ['release', 'environment'],
  combination: DIMENSIONS,
}

/** The level with the fewest rows that has these dimensions. */
export function levelWith(wanted: Iterable<Dimension>): Level {
  const all = [...wanted]
  return LEVELS.find((level) => all.every((one) => LEVEL_DIMENSIONS[level].includes(one))) ?? 'combination'
}

/**
 * New values or combinations that a project may add per day; what exceeds it is counted together. A project key is
 * public, so anyone can make up releases and devices.
 */
export const MAX_NEW_PER_DAY: Readonly<Record<Level, number>> = {
  all: Number.POSITIVE_INFINITY,
  release: 1_000,
  environment: 100,
  os: 100,
  device: 10_000,
  device_class: 4,
  release_environment: 2_000,
  combination: 2_000,
}

/** The id under which everything is counted. */
export const ALL_ID = 0

const LEVEL_IDS = 2 ** 50

/** The ids of a level follow each other, so that an index has its rows side by side. `to` is excluded. */
export const levelIdRange = (level: Level): { readonly from: number; readonly to: number } =>
  level === 'all'
    ? { from: ALL_ID, to: ALL_ID + 1 }
    : { from: levelNumber(level) * LEVEL_IDS, to: (levelNumber(level) + 1) * LEVEL_IDS }

/** The id of what exceeds the limit of a level. */
export const otherId = (level: Level): number => levelIdRange(level).from

/** The level, then 50 bits of a hash, which differs from {@link otherId}: every process computes the same id. */
export function attributesId(level: Level, values: Readonly<Partial<Record<Dimension, string>>>): number {
  if (level === 'all') return ALL_ID
  const text = JSON.stringify(LEVEL_DIMENSIONS[level].map((dimension) => values[dimension] ?? ''))
  const hash = Number.parseInt(digestOf('sha256', text, 'hex').slice(0, 13), 16) % (LEVEL_IDS - 1)
  return levelIdRange(level).from + 1 + hash
}

/** The counts. They are the same for sessions and for stored events, as far as both have them. */
export const COUNTS = [
  'total',
  /** Sessions: disjoint classes with `unhandled`, `abnormal` and `crashed`; sessions in none of them are healthy. */
  'errored',
  'unhandled',
  'abnormal',
  'crashed',
  'anr_foreground',
  'anr_background',
  /** Events of the most urgent kind: crashes and hangs of apps. */
  'critical',
] as const
export type Count = (typeof COUNTS)[number]
export type Counts = Record<Count, number>

export const noCounts = (): Counts => ({
  total: 0,
  errored: 0,
  unhandled: 0,
  abnormal: 0,
  crashed: 0,
  anr_foreground: 0,
  anr_background: 0,
  critical: 0,
})

/** Distinct users, each set with a sketch. Sketches only grow. */
export const USER_SETS = ['users', 'unhandled_users', 'crashed_users', 'anr_users', 'anr_foreground_users'] as const
export type UserSet = (typeof USER_SETS)[number]

/** The column with what a set's sketch counts. */
export const countColumn = <S extends UserSet>(set: S): `${S}_count` => `${set}_count`

/** The data that rollups count: sessions by their start, or stored events by their time. */
export const SOURCES = ['sessions', 'events'] as const
export type Source = (typeof SOURCES)[number]
export const sourceNumber = (source: Source): number => SOURCES.indexOf(source)
