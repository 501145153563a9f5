import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { valuesQuery } from '../../api/suggestion-queries.ts'
import type { IssuesSearch } from '../../address/search.ts'
import { InputBox } from '../../ui/field.tsx'
import { formatCount } from '../../ui/format.ts'
import { Minor } from '../../ui/text.tsx'
import { filterTexts } from './filter-texts.ts'
import { chosenOf, isSame, keyOf, toggled, type ValueFilter } from './filter-values.ts'
import type { SearchChange } from './filters.tsx'
import styles from './value-list.module.css'
import typeStyles from '../../ui/type.module.css'

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
  const found = useQuery(valuesQuery(search.project ?? null, keyOf(filter), prefix.trim()))
  const chosen = chosenOf(search, filter)
  const rows = found.data?.values ?? []
  const missing = prefix === '' ? chosen.filter((value) => !rows.some((row) => isSame(row.value, value))) : []
  const choices = Map.groupBy([...missing.map((value) => ({ value, count: null })), ...rows], ({ value }) =>
    groupOf(value),
  )
  return (
    <fieldset className={styles.values} aria-busy={found.isFetching}>
      <legend>{label}</legend>
      {rows.length < SEARCHED_FROM && prefix === '' ? null : (
        <InputBox>
          <input
            type="search"
            aria-label={filterTexts.find(label)}
            placeholder={filterTexts.find(label)}
            value={prefix}
            onChange={(event) => setPrefix(event.target.value)}
          />
        </InputBox>
      )}
      <div className={styles.list}>
        {[...choices].map(([choice, members]) => (
          <label key={choice}>
            <input
              type="checkbox"
              checked={members.some(({ value }) => chosen.some((one) => isSame(one, value)))}
              onChange={() =>
                onChange(
                  toggled(
                    search,
                    filter,
                    members.map(({ value }) => value),
                  ),
                )
              }
            />
            <span className={styles.value} title={choice}>
              {show?.(choice) ?? choice}
            </span>
            <Issues count={sumOf(members)} />
          </label>
        ))}
      </div>
      {found.isPending || choices.size > 0 ? null : (
        <Minor as="p">{prefix === '' ? filterTexts.noValues : filterTexts.noMatch}</Minor>
      )}
      {found.error === null ? null : (
        <Minor as="p" bad role="alert">
          {filterTexts.failed}
        </Minor>
      )}
      {found.data?.newest == null ? null : <Minor as="p">{filterTexts.newest(formatCount(found.data.newest))}</Minor>}
    </fieldset>
  )
}

/** Null if one of the counts is unknown. */
const sumOf = (rows: readonly { count: number | null }[]): number | null =>
  rows.reduce<number | null>((sum, { count }) => (sum === null || count === null ? null : sum + count), 0)

const Issues = ({ count }: { count: number | null }) =>
  count === null ? null : (
    <Minor className={typeStyles.figures} aria-label={filterTexts.issues(count)}>
      {formatCount(count)}
    </Minor>
  )
