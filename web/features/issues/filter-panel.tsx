import { platformName } from '#shared/platforms.ts'
import type { Issue } from '../../api/issue-queries.ts'
import { useShownPlatform } from '../../common/issue/platforms.ts'
import { useAssignees } from '../../common/members/use-assignees.ts'
import { SEVERITIES } from '#shared/issue-values.ts'
import type { IssuesSearch } from '../../address/search.ts'
import { Button } from '../../ui/button.tsx'
import { useFirstFocus } from '../../ui/first-focus.ts'
import { Toolbar } from '../../ui/stack.tsx'
import { PlatformTile } from '../../ui/platform-tile.tsx'
import { Severity } from '../../ui/status.tsx'
import { Minor } from '../../ui/text.tsx'
import { issuesTexts } from './texts.ts'
import type { SearchChange } from './filters.tsx'
import styles from './filter-panel.module.css'

function toggled<T>(values: readonly T[] | undefined, value: T): T[] | undefined {
  const next = values?.includes(value) === true ? values.filter((other) => other !== value) : [...(values ?? []), value]
  return next.length === 0 ? undefined : next
}

/** Several values that are one choice: an Android app sends Java and Kotlin. */
function toggledAll(chosen: readonly string[] = [], values: readonly string[]): string[] | undefined {
  const others = chosen.filter((value) => !values.includes(value))
  const next = others.length < chosen.length ? others : [...chosen, ...values]
  return next.length === 0 ? undefined : next
}

/** Filters by severity, platform and assignee, applied immediately. */
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
  const { me, assignees } = useAssignees()
  const { platformOf } = useShownPlatform(search.project ?? null)
  const platforms = Map.groupBy(
    new Set([...(search.platform ?? []), ...rows.map((row) => row.platform)].toSorted()),
    platformOf,
  )
  const choices: { value: string | undefined; label: string }[] = [
    { value: undefined, label: issuesTexts.anyone },
    { value: 'me', label: issuesTexts.me },
    { value: 'none', label: issuesTexts.unassigned },
    ...assignees.filter(({ id }) => id !== me?.id).map(({ id, name }) => ({ value: id, label: name })),
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
        {platforms.size === 0 ? <Minor as="p">{issuesTexts.noPlatforms}</Minor> : null}
        {[...platforms].map(([platform, values]) => (
          <label key={platform}>
            <input
              type="checkbox"
              checked={values.some((value) => search.platform?.includes(value))}
              onChange={() => onChange({ platform: toggledAll(search.platform, values) })}
            />
            <PlatformTile platform={platform} quiet />
            {platformName(platform)}
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>{issuesTexts.assignee}</legend>
        {choices.map((choice) => (
          <label key={choice.value ?? 'anyone'}>
            <input
              type="radio"
              name="assignee"
              checked={search.assignee === choice.value}
              onChange={() => onChange({ assignee: choice.value })}
            />
            {choice.label}
          </label>
        ))}
      </fieldset>
      <Toolbar align="end">
        <Button size="sm" onClick={() => onChange({ severity: undefined, platform: undefined, assignee: undefined })}>
          {issuesTexts.clearFilters}
        </Button>
      </Toolbar>
    </div>
  )
}
