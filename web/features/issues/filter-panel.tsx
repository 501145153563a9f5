import type { Issue } from '../../api/issue-queries.ts'
import { usePeople } from '../../common/members/use-people.ts'
import { SEVERITIES } from '#shared/issue-values.ts'
import type { IssuesSearch } from '../../address/search.ts'
import { Button } from '../../ui/button.tsx'
import { useFirstFocus } from '../../ui/first-focus.ts'
import { Toolbar } from '../../ui/stack.tsx'
import { PlatformTile, platformWord, Severity } from '../../ui/tiles.tsx'
import { issuesTexts } from './texts.ts'
import type { SearchChange } from './filters.tsx'
import styles from './filter-panel.module.css'

function toggled<T>(values: readonly T[] | undefined, value: T): T[] | undefined {
  const next = values?.includes(value) === true ? values.filter((other) => other !== value) : [...(values ?? []), value]
  return next.length === 0 ? undefined : next
}

/** Severity, platform and owner; the list follows each press. */
export function FilterPanel({
  search,
  onChange,
  rows,
}: {
  search: IssuesSearch
  onChange: SearchChange
  rows: readonly Issue[]
}) {
  const root = useFirstFocus<HTMLDivElement>()
  const { me, people } = usePeople()
  const platforms = [...new Set([...(search.platform ?? []), ...rows.map((row) => row.platform)])].toSorted()
  const owners: { value: string | undefined; label: string }[] = [
    { value: undefined, label: issuesTexts.anyone },
    { value: 'me', label: issuesTexts.me },
    { value: 'none', label: issuesTexts.nobody },
    ...people.filter((person) => person.id !== me?.id).map((person) => ({ value: person.id, label: person.name })),
  ]
  return (
    <div className={styles.filterpanel} ref={root}>
      <fieldset>
        <legend>{issuesTexts.severity}</legend>
        {SEVERITIES.map((severity) => (
          <label key={severity}>
            <input
              type="checkbox"
              checked={search.severity?.includes(severity) ?? false}
              onChange={() => onChange({ severity: toggled(search.severity, severity) })}
            />
            <Severity severity={severity} />
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>{issuesTexts.platform}</legend>
        {platforms.length === 0 ? <p className="sub">{issuesTexts.noPlatforms}</p> : null}
        {platforms.map((platform) => (
          <label key={platform}>
            <input
              type="checkbox"
              checked={search.platform?.includes(platform) ?? false}
              onChange={() => onChange({ platform: toggled(search.platform, platform) })}
            />
            <PlatformTile platform={platform} quiet />
            {platformWord(platform)}
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>{issuesTexts.owner}</legend>
        {owners.map((owner) => (
          <label key={owner.value ?? 'anyone'}>
            <input
              type="radio"
              name="owner"
              checked={search.owner === owner.value}
              onChange={() => onChange({ owner: owner.value })}
            />
            {owner.label}
          </label>
        ))}
      </fieldset>
      <Toolbar align="end">
        <Button size="sm" onClick={() => onChange({ severity: undefined, platform: undefined, owner: undefined })}>
          {issuesTexts.clearFilters}
        </Button>
      </Toolbar>
    </div>
  )
}
