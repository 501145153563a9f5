import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { valuesQuery } from '../../../api/suggestion-queries.ts'
import { CheckList } from '../../../forms/check-list.tsx'
import type { IssuesSearch } from '../../../address/search.ts'
import { formatCount } from '../../../ui/format.ts'
import { Minor } from '../../../ui/text.tsx'
import { filterTexts } from './filter-texts.ts'
import { chosenValues, isSame, filterQueryKey, toggled, type ValueFilter } from './filter-values.ts'
import type { SearchChange } from './filters.tsx'

/** From this number of values on they can be searched. */
const SEARCHED_FROM = 8

type ValueListProps = {
  search: IssuesSearch
  onChange: SearchChange
  filter: ValueFilter
  label: string
  /** Values that are one choice. */
  groupOf?: (value: string) => string
  /** How a choice looks; by default as it is written. */
  show?: (choice: string) => ReactNode
}

/** The values of a filter with the number of their issues: those of the address are checked, a press changes the address. */
export function ValueList({ search, onChange, filter, label, groupOf = (value) => value, show }: ValueListProps) {
  const [prefix, setPrefix] = useState('')
  const found = useQuery(valuesQuery(search.project ?? null, filterQueryKey(filter), prefix.trim()))
  const chosen = chosenValues(search, filter)
  const rows = found.data?.values ?? []
  const missing = prefix === '' ? chosen.filter((value) => !rows.some((row) => isSame(row.value, value))) : []
  const choices = Map.groupBy([...missing.map((value) => ({ value, count: null })), ...rows], ({ value }) =>
    groupOf(value),
  )
  return (
    <CheckList
      label={label}
      isBusy={found.isFetching}
      find={
        rows.length < SEARCHED_FROM && prefix === ''
          ? null
          : { label: filterTexts.find(label), text: prefix, onChange: setPrefix }
      }
      rows={[...choices].map(([choice, members]) => {
        const count = sumOf(members)
        const values = members.map(({ value }) => value)
        return {
          key: choice,
          text: choice,
          shown: show?.(choice),
          isChecked: values.some((value) => chosen.some((one) => isSame(one, value))),
          count: count === null ? null : { value: count, text: filterTexts.issues(count) },
          onChange: () => onChange(toggled(search, filter, values)),
        }
      })}
    >
      {found.error !== null ? (
        <Minor as="p" bad role="alert">
          {filterTexts.failed}
        </Minor>
      ) : found.isPending || choices.size > 0 ? null : (
        <Minor as="p">{prefix === '' ? filterTexts.noValues : filterTexts.noMatch}</Minor>
      )}
      {found.data?.newest == null ? null : <Minor as="p">{filterTexts.newest(formatCount(found.data.newest))}</Minor>}
    </CheckList>
  )
}

/** Null if one of the counts is unknown. */
const sumOf = (rows: readonly { count: number | null }[]): number | null =>
  rows.reduce<number | null>((sum, { count }) => (sum === null || count === null ? null : sum + count), 0)
