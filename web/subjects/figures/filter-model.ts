import { HealthSearch } from '../../address/search.ts'
import { figuresTexts } from './texts.ts'

/** Filters of the pages about app health. Pure. */

export const DIMENSIONS = ['release', 'environment', 'os', 'device_class', 'device'] as const
export type Dimension = (typeof DIMENSIONS)[number]
export type Filters = Pick<HealthSearch, Dimension>

/** The filters that are set. */
export function pickHealthFilters({ release, environment, os, device, device_class }: HealthSearch): Filters {
  return {
    ...(release === undefined ? {} : { release }),
    ...(environment === undefined ? {} : { environment }),
    ...(os === undefined ? {} : { os }),
    ...(device === undefined ? {} : { device }),
    ...(device_class === undefined ? {} : { device_class }),
  }
}

/** All filters after a change of one, for the address. */
export function withValues(filters: Filters, dimension: Dimension, values: readonly string[] | undefined) {
  const { release, environment, os, device, device_class } = HealthSearch.parse({ ...filters, [dimension]: values })
  return { release, environment, os, device, device_class }
}

/** All filters unset, for a change of the address. */
export const NO_FILTERS = {
  release: undefined,
  environment: undefined,
  os: undefined,
  device_class: undefined,
  device: undefined,
} as const satisfies Record<Dimension, undefined>

/** The values with one more or one less; undefined if none is left. */
export function toggled(values: readonly string[] | undefined, value: string): string[] | undefined {
  const next = values?.includes(value) === true ? values.filter((other) => other !== value) : [...(values ?? []), value]
  return next.length === 0 ? undefined : next
}

const isClass = (name: string): name is keyof typeof figuresTexts.classes => Object.hasOwn(figuresTexts.classes, name)

/** How a value is shown: a class of devices as a word, a release without its package. */
export function shownValue(dimension: Dimension, value: string | null): string {
  if (value === null || value === '') return figuresTexts.unknown
  if (dimension === 'device_class' && isClass(value)) return figuresTexts.classes[value]
  return dimension === 'release' ? shortRelease(value) : value
}

/** `com.acme.shop@4.12.0+41200` → `4.12.0`. */
export const shortRelease = (release: string): string => /^(?:.+@)?([^@+]+)(?:\+.+)?$/u.exec(release)?.[1] ?? release

/** `4.12.0 and 4.11.3`, `4.12.0 and 2 more`; the text of all for none. */
export function selectionText(dimension: Dimension, values: readonly string[] | undefined, all: string): string {
  const [first, second, ...others] = (values ?? []).map((value) => shownValue(dimension, value))
  if (first === undefined) return all
  if (second === undefined) return first
  return others.length === 0 ? figuresTexts.both(first, second) : figuresTexts.several(first, others.length + 1)
}
