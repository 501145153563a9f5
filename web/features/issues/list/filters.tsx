import { lazy, Suspense, type RefObject } from 'react'
import { SearchHelp } from './search-help.tsx'
import { useShownPlatform } from '../../../subjects/issue/platforms.ts'
import { useAssignees } from './use-assignees.ts'
import type { SavedView } from '../../../api/view-queries.ts'
import { FilterChip } from '../../../subjects/query/chip.tsx'
import { issueTermSource } from '../../../subjects/query/issue-terms.ts'
import type { QueryHint } from '../../../api/query-hints.ts'
import type { QueryMistake } from '../../../subjects/query/mistake.ts'
import { QueryField } from '../../../subjects/query/query-field.tsx'
import { selectedWindow, type IssuesSearch } from '../../../address/search.ts'
import { Button } from '../../../ui/button.tsx'
import { formatWindow } from '../../../ui/format.ts'
import { Menu, type MenuEntry } from '../../../ui/menu.tsx'
import { Popover } from '../../../ui/popover.tsx'
import { SEVERITY_NAMES } from '../../../ui/status.tsx'
import { countSet } from './filter-values.ts'
import { issuesTexts } from './texts.ts'

const FilterPanel = lazy(() => import('./filter-panel.tsx').then((module) => ({ default: module.FilterPanel })))

export type SearchChange = (change: Partial<IssuesSearch>) => void

type SearchBoxProps = {
  search: IssuesSearch
  onChange: SearchChange
  onView: (view: SavedView) => void
  mistake: QueryMistake | null
  hints: readonly QueryHint[]
  inputRef: RefObject<HTMLInputElement | null>
}

/** The search field: filters as tokens, then the query. */
export function SearchBox({ search, onChange, onView, mistake, hints, inputRef }: SearchBoxProps) {
  const tokens = useTokens(search)
  return (
    <QueryField
      label={issuesTexts.search}
      placeholder={issuesTexts.searchHint}
      list="issues"
      query={search.q ?? ''}
      onSearch={(q) => onChange({ q: q === '' ? undefined : q })}
      source={{ ...issueTermSource(search.project ?? null), onView }}
      mistake={mistake}
      hints={hints}
      inputRef={inputRef}
      keys="/"
      tokens={tokens.map(({ name, value, clear }) => (
        <FilterChip
          key={name}
          name={name}
          value={value}
          label={issuesTexts.removeFilter(name)}
          onRemove={() => {
            onChange(clear)
            // The chip goes.
            inputRef.current?.focus()
          }}
        />
      ))}
      end={(onAdd) => <SearchHelp onTake={onAdd} />}
    />
  )
}

/** The filters as texts, for the search field and the empty state. */
export function useTokens(search: IssuesSearch): { name: string; value: string; clear: Partial<IssuesSearch> }[] {
  const { assignees } = useAssignees(search.assignee !== undefined)
  const platforms = useShownPlatform(search.project ?? null)
  const tokens: { name: string; value: string; clear: Partial<IssuesSearch> }[] = []
  if (search.severity !== undefined) {
    const value = search.severity.map((severity) => SEVERITY_NAMES[severity].toLowerCase()).join(', ')
    tokens.push({ name: issuesTexts.severity.toLowerCase(), value, clear: { severity: undefined } })
  }
  if (search.platform !== undefined) {
    const value = [...new Set(search.platform.map(platforms.nameOf))].join(', ')
    tokens.push({ name: issuesTexts.platform.toLowerCase(), value, clear: { platform: undefined } })
  }
  if (search.assignee !== undefined) {
    const value = assigneeName(search.assignee, assignees)
    tokens.push({ name: issuesTexts.assignee.toLowerCase(), value, clear: { assignee: undefined } })
  }
  const window = selectedWindow(search)
  if (window !== null)
    tokens.push({
      name: issuesTexts.time,
      value: formatWindow(window.from, window.to),
      clear: { from: undefined, to: undefined },
    })
  return tokens
}

function assigneeName(assignee: string, members: readonly { id: string; name: string }[]): string {
  if (assignee === 'me') return issuesTexts.me.toLowerCase()
  if (assignee === 'none') return issuesTexts.unassigned.toLowerCase()
  return members.find(({ id }) => id === assignee)?.name ?? issuesTexts.unknownAssignee.toLowerCase()
}

type FilterButtonProps = {
  search: IssuesSearch
  onChange: SearchChange
  open: boolean
  onOpenChange: (open: boolean) => void
}

/** The button of the filter panel, which stays open after each change. */
export function FilterButton({ search, onChange, open, onOpenChange }: FilterButtonProps) {
  const count = countSet(search)
  return (
    <Popover
      label={issuesTexts.filters}
      align="end"
      open={open}
      onOpenChange={onOpenChange}
      trigger={
        <Button icon="filter" keys="f">
          {count === 0 ? issuesTexts.filter : `${issuesTexts.filter} · ${count}`}
        </Button>
      }
    >
      <Suspense fallback={null}>
        <FilterPanel search={search} onChange={onChange} />
      </Suspense>
    </Popover>
  )
}

const SORT_KEYS = [
  'last_seen',
  'first_seen',
  'event_count_in_range',
  'user_count_in_range',
  'event_count',
  'user_count',
  'severity',
] as const
const SORT_LETTERS = {
  last_seen: 'l',
  first_seen: 'f',
  event_count_in_range: 'e',
  user_count_in_range: 'u',
  event_count: 't',
  user_count: 'a',
  severity: 's',
} as const
type SortKey = (typeof SORT_KEYS)[number]

const keyOf = (sort: NonNullable<IssuesSearch['sort']>): SortKey =>
  SORT_KEYS.find((key) => sort === key || sort === `-${key}`) ?? 'last_seen'

type SortButtonProps = { sort: NonNullable<IssuesSearch['sort']>; onChange: SearchChange }

export function SortButton({ sort, onChange }: SortButtonProps) {
  const current = keyOf(sort)
  const falling = sort.startsWith('-')
  const [down, up] = issuesTexts.sortOrders[current]
  const set = (next: NonNullable<IssuesSearch['sort']>) => onChange({ sort: next === '-last_seen' ? undefined : next })
  const entries: MenuEntry[] = [
    ...SORT_KEYS.map((key): MenuEntry => ({
      label: issuesTexts.sorts[key],
      letter: SORT_LETTERS[key],
      checked: key === current,
      onSelect: () => set(`-${key}`),
    })),
    { kind: 'separator' },
    { label: down, checked: falling, onSelect: () => set(`-${current}`) },
    { label: up, checked: !falling, onSelect: () => set(current) },
  ]
  return (
    <Menu
      label={issuesTexts.sort}
      align="end"
      entries={entries}
      trigger={
        <Button
          icon="sort"
          caret
          title={issuesTexts.sortBy(issuesTexts.sorts[current])}
          aria-label={issuesTexts.sortBy(issuesTexts.sorts[current])}
        >
          {issuesTexts.sorts[current]}
        </Button>
      }
    />
  )
}
