import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { breakdownQuery } from '../../api/metric-queries.ts'
import type { Range } from '../../address/search.ts'
import { Button } from '../../ui/button.tsx'
import { useFirstFocus } from '../../ui/first-focus.ts'
import { formatCount } from '../../ui/format.ts'
import { Popover } from '../../ui/popover.tsx'
import { Toolbar } from '../../ui/stack.tsx'
import { Minor } from '../../ui/text.tsx'
import { CheckList } from '../../forms/check-list.tsx'
import { useKeys } from '../../app/keys.ts'
import { classNames } from '../../ui/class-names.ts'
import fitStyles from '../../ui/fit.module.css'
import narrowStyles from '../../ui/narrow.module.css'
import {
  DIMENSIONS,
  pickHealthFilters,
  NO_FILTERS,
  selectionText,
  shownValue,
  toggled,
  withValues,
  type Dimension,
  type Filters,
} from './filter-model.ts'
import { figuresTexts } from './texts.ts'
import styles from './filters.module.css'

type FilterChange = (filters: ReturnType<typeof withValues>) => void
type FilterProps = { projectId: string; range: Range; filters: Filters; onChange: FilterChange }

/** Menus of the filters of app health: by release, and by the rest. `F` opens the second. */
export function HealthFilters(props: FilterProps) {
  const { filters } = props
  const [open, setOpen] = useState(false)
  useKeys([{ keys: 'f', label: figuresTexts.filter, group: 'Page', run: () => setOpen(true) }])
  const others = DIMENSIONS.filter((dimension) => dimension !== 'release')
  const count = others.filter((dimension) => filters[dimension] !== undefined).length
  return (
    <>
      <Popover
        label={figuresTexts.release}
        align="end"
        trigger={
          <Button icon="tag" caret>
            {selectionText('release', filters.release, figuresTexts.allReleases)}
          </Button>
        }
      >
        <Panel {...props} dimensions={['release']} />
      </Popover>
      <Popover
        label={figuresTexts.filter}
        align="end"
        open={open}
        onOpenChange={setOpen}
        trigger={
          <Button icon="filter" caret>
            {count === 0 ? figuresTexts.filter : figuresTexts.filters(count)}
          </Button>
        }
      >
        <Panel {...props} dimensions={others} />
      </Popover>
    </>
  )
}

function Panel({ dimensions, ...props }: FilterProps & { dimensions: readonly Dimension[] }) {
  const root = useFirstFocus<HTMLDivElement>()
  return (
    <div
      className={
        dimensions.length === 1
          ? classNames(styles.panel, narrowStyles.oneColumnAt600, styles.single)
          : classNames(styles.panel, narrowStyles.oneColumnAt600)
      }
      ref={root}
    >
      {dimensions.map((dimension) => (
        <Options key={dimension} {...props} dimension={dimension} />
      ))}
      <Toolbar align="end" className={fitStyles.wholeRow}>
        <Button size="sm" onClick={() => props.onChange({ ...NO_FILTERS, ...kept(props.filters, dimensions) })}>
          {figuresTexts.clearFilters}
        </Button>
      </Toolbar>
    </div>
  )
}

/** The filters of other panels. */
const kept = (filters: Filters, cleared: readonly Dimension[]): Filters =>
  pickHealthFilters({ ...filters, ...Object.fromEntries(cleared.map((dimension) => [dimension, undefined])) })

/** From this number of values on they can be searched. */
const SEARCHED_FROM = 8

function Options({ projectId, range, filters, onChange, dimension }: FilterProps & { dimension: Dimension }) {
  const [text, setText] = useState('')
  // Without the other filters: their values would vanish from their own list.
  const found = useQuery(breakdownQuery({ projectId, range, dimension, filters: {} }))
  const chosen = filters[dimension] ?? []
  const rows = found.data?.rows ?? []
  const sessions = new Map(rows.flatMap((row) => (row.name === null ? [] : [[row.name, row.sessions] as const])))
  const names = [...chosen.filter((name) => !sessions.has(name)), ...sessions.keys()]
  const needle = text.trim().toLowerCase()
  const others = found.data?.other?.names ?? 0
  const matching = names.filter((name) => shownValue(dimension, name).toLowerCase().includes(needle))
  const what = figuresTexts.dimensions[dimension]
  return (
    <CheckList
      label={what}
      isBusy={found.isPending}
      find={names.length < SEARCHED_FROM ? null : { label: figuresTexts.find(what), text, onChange: setText }}
      rows={matching.map((name) => {
        const count = sessions.get(name)
        return {
          key: name,
          text: name,
          shown: shownValue(dimension, name),
          isChecked: chosen.includes(name),
          count: count === undefined ? null : { value: count, text: figuresTexts.sessionsOf(formatCount(count)) },
          onChange: () => onChange(withValues(filters, dimension, toggled(chosen, name))),
        }
      })}
    >
      {found.error !== null ? (
        <Minor as="p" bad role="alert">
          {figuresTexts.valuesFailed}
        </Minor>
      ) : found.isPending || matching.length > 0 ? null : (
        <Minor as="p">{names.length === 0 ? figuresTexts.noValues : figuresTexts.noMatch}</Minor>
      )}
      {others === 0 ? null : (
        <Minor as="p">{figuresTexts.shownOf(formatCount(rows.length), formatCount(rows.length + others))}</Minor>
      )}
    </CheckList>
  )
}

/** The filters that are set, each with a button that removes it. */
export function FilterChips({ filters, onChange }: Pick<FilterProps, 'filters' | 'onChange'>) {
  const set = DIMENSIONS.flatMap((dimension) => (filters[dimension] ?? []).map((value) => ({ dimension, value })))
  if (set.length === 0) return null
  return (
    <div className={styles.chips} role="group" aria-label={figuresTexts.filteredBy}>
      {set.map(({ dimension, value }) => (
        <Button
          key={`${dimension} ${value}`}
          size="sm"
          icon="x"
          title={value}
          aria-label={figuresTexts.removeFilter(figuresTexts.dimensions[dimension], shownValue(dimension, value))}
          onClick={() => onChange(withValues(filters, dimension, toggled(filters[dimension], value)))}
        >
          {`${figuresTexts.dimensions[dimension]}: ${shownValue(dimension, value)}`}
        </Button>
      ))}
      <Button size="sm" look="ghost" onClick={() => onChange(NO_FILTERS)}>
        {figuresTexts.clearFilters}
      </Button>
    </div>
  )
}
