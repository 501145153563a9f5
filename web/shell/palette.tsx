import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouter } from '@tanstack/react-router'
import { Fragment, useState } from 'react'
import { issueSearchQuery, meQuery, projectsQuery } from '../api/queries.ts'
import { can } from '../app/can.ts'
import { useRegisteredKeys } from '../app/keys.ts'
import { paths } from '../address/paths.ts'
import { useScope } from '../app/use-scope.ts'
import { readRecents } from '../app/recents.ts'
import { useCombobox } from '../ui/combobox.ts'
import { useDelayed } from '../ui/delayed.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { PlatformTile } from '../ui/platform-tile.tsx'
import { Severity } from '../ui/status.tsx'
import { appTexts } from '../app/texts.ts'
import { shellTexts } from './texts.ts'
import { boldParts, groupPaletteRows, knownIssues, type PaletteIssue, type PaletteRow } from './palette-rows.ts'
import styles from './palette.module.css'

/**
 * The command palette: issues, pages and commands. Cached results are shown immediately; the server's results are added
 * below, so that no row moves.
 */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const rows = useRows(text, onClose)
  const groups = groupPaletteRows(rows)
  const flat = groups.flatMap((group) => group.rows)
  const box = useCombobox({ options: flat, onChoose: (row) => row.run(), text, onText: setText })

  return (
    <Dialog open bare title={shellTexts.palette} className={styles.palette} onClose={onClose}>
      <div className={styles.input}>
        <Icon name="search" />
        <input
          {...box.input}
          data-autofocus
          aria-label={shellTexts.palette}
          placeholder={shellTexts.palettePlaceholder}
        />
        <span className={styles.escape}>
          <Kbd keys="escape" />
        </span>
      </div>
      <div {...box.list} className={styles.list} aria-label={shellTexts.paletteResults}>
        {groups.map((group) => (
          <div role="group" aria-label={shellTexts.paletteGroups[group.name]} key={group.name}>
            <p className={styles.heading} role="presentation">
              {shellTexts.paletteGroups[group.name]}
            </p>
            {group.rows.map((row) => {
              const index = flat.indexOf(row)
              return <PaletteOption key={row.key} option={box.option(index)} row={row} text={text} />
            })}
          </div>
        ))}
      </div>
      {flat.every(({ group }) => group === 'ask') ? (
        <p className={styles.none} role="status">
          {shellTexts.paletteNone(text)}
        </p>
      ) : null}
    </Dialog>
  )
}

type PaletteOptionProps = {
  option: ReturnType<ReturnType<typeof useCombobox<PaletteRow>>['option']>
  row: PaletteRow
  text: string
}

function PaletteOption({ option, row, text }: PaletteOptionProps) {
  const selected = option['aria-selected']
  return (
    <div {...option}>
      {row.icon.kind === 'severity' ? (
        <Severity severity={row.icon.severity} word={false} />
      ) : row.icon.kind === 'platform' ? (
        <PlatformTile platform={row.icon.platform} />
      ) : (
        <Icon name={row.icon.name} />
      )}
      <span>
        {boldParts(row.label, text).map((part, index) => (
          // The parts of a label keep their order.
          <Fragment key={`${index} ${part.text}`}>{part.bold ? <b>{part.text}</b> : part.text}</Fragment>
        ))}
      </span>
      {row.meta === undefined ? <span /> : <span className={styles.meta}>{row.meta}</span>}
      {selected && row.keys === undefined ? (
        <Kbd keys="enter" />
      ) : row.keys === undefined ? null : (
        <Kbd keys={row.keys} />
      )}
    </div>
  )
}

/** All matching rows, in the order of the groups. */
function useRows(text: string, onClose: () => void): PaletteRow[] {
  const client = useQueryClient()
  const navigate = useNavigate()
  const router = useRouter()
  const { pageProjectId } = useScope()
  const bindings = useRegisteredKeys()
  const me = useQuery(meQuery)
  const projects = useQuery(projectsQuery)
  const delayed = useDelayed(text.trim(), 120)
  const found = useQuery(issueSearchQuery(delayed))
  const [recents] = useState(readRecents)
  const needle = text.trim()

  const after = (act: () => void) => () => {
    onClose()
    // The dialog returns the focus first.
    requestAnimationFrame(act)
  }
  const issueRow = (issue: PaletteIssue): PaletteRow => ({
    key: issue.id,
    group: 'issues',
    label: issue.title,
    meta: issue.short_id,
    icon: { kind: 'severity', severity: issue.severity },
    run: after(() => void navigate(paths.issue(issue.id))),
  })
  const place = (key: string, label: string, icon: PaletteRow['icon'], act: () => void, meta?: string): PaletteRow => ({
    key,
    group: 'places',
    label,
    icon,
    run: after(act),
    meta,
  })

  if (needle === '') {
    const here = router.state.location.href
    return recents
      .filter(({ href }) => href !== here)
      .slice(0, 5)
      .map(({ href, title }): PaletteRow => ({
        key: href,
        group: 'recent',
        label: title,
        icon: { kind: 'icon', name: 'clock' },
        run: after(() => router.history.push(href)),
      }))
      .concat(commandRows(bindings, after))
  }

  const matches = (label: string) => label.toLowerCase().includes(needle.toLowerCase())
  const inMemory = knownIssues(client, needle)
  const seen = new Set(inMemory.map(({ id }) => id))
  const fromServer = delayed === needle ? (found.data?.items ?? []).filter(({ id }) => !seen.has(id)) : []
  const places = [
    place('issues', shellTexts.issues, { kind: 'icon', name: 'issues' }, () => void navigate(paths.issues())),
    place('alerts', shellTexts.alerts, { kind: 'icon', name: 'bell' }, () => void navigate(paths.alerts())),
    place('metrics', shellTexts.metrics, { kind: 'icon', name: 'metrics' }, () => void navigate(paths.metrics())),
    place(
      'performance',
      shellTexts.performance,
      { kind: 'icon', name: 'gauge' },
      () => void navigate(paths.performance()),
    ),
    place('releases', shellTexts.releases, { kind: 'icon', name: 'tag' }, () => void navigate(paths.releases())),
    place('symbols', shellTexts.symbols, { kind: 'icon', name: 'symbols' }, () => void navigate(paths.symbols())),
    place('ask', shellTexts.ask, { kind: 'icon', name: 'ask' }, () => void navigate(paths.ask())),
    place('query', shellTexts.query, { kind: 'icon', name: 'query' }, () => void navigate(paths.query())),
    place('intake', shellTexts.intake, { kind: 'icon', name: 'download' }, () => void navigate(paths.intake())),
    ...(projects.data?.items ?? []).flatMap((project) => [
      place(
        `p-${project.id}`,
        project.name,
        { kind: 'platform', platform: project.platform },
        () => void navigate(paths.issues({ project: project.id })),
        shellTexts.issues,
      ),
      place(
        `s-${project.id}`,
        project.name,
        { kind: 'icon', name: 'project' },
        () => void navigate(paths.projectGeneral(project.id)),
        shellTexts.projectSettings,
      ),
    ]),
    ...(me.data !== undefined && can(me.data.user.role, 'projects.write').allowed
      ? [
          place(
            'new',
            shellTexts.newProject,
            { kind: 'icon', name: 'plus' },
            () => void navigate(paths.onboarding({ step: 'project' })),
          ),
        ]
      : []),
    place(
      'members',
      shellTexts.members,
      { kind: 'icon', name: 'user' },
      () => void navigate(paths.members()),
      shellTexts.organisation,
    ),
    place(
      'assistant',
      shellTexts.assistant,
      { kind: 'icon', name: 'spark' },
      () => void navigate(paths.assistant()),
      shellTexts.organisation,
    ),
    place(
      'api-keys',
      shellTexts.apiKeys,
      { kind: 'icon', name: 'key' },
      () => void navigate(paths.apiKeys()),
      shellTexts.organisation,
    ),
    ...(me.data !== undefined && can(me.data.user.role, 'webhooks.read').allowed
      ? [
          place(
            'webhooks',
            shellTexts.webhooks,
            { kind: 'icon', name: 'send' },
            () => void navigate(paths.webhooks()),
            shellTexts.organisation,
          ),
        ]
      : []),
    ...(me.data !== undefined && can(me.data.user.role, 'audit.read').allowed
      ? [
          place(
            'audit',
            shellTexts.audit,
            { kind: 'icon', name: 'org' },
            () => void navigate(paths.audit()),
            shellTexts.organisation,
          ),
        ]
      : []),
    place('profile', appTexts.profile, { kind: 'icon', name: 'user' }, () => void navigate(paths.profile())),
    place('security', appTexts.security, { kind: 'icon', name: 'lock' }, () => void navigate(paths.security())),
    place('sessions', appTexts.sessions, { kind: 'icon', name: 'phone' }, () => void navigate(paths.sessions())),
    place('appearance', appTexts.appearance, { kind: 'icon', name: 'sun' }, () => void navigate(paths.appearance())),
  ]
  return [
    ...[...inMemory, ...fromServer].slice(0, 7).map(issueRow),
    ...places.filter((row) => matches(row.label) || matches(row.meta ?? '')).slice(0, 6),
    ...commandRows(bindings, after).filter((row) => matches(row.label)),
    {
      key: 'ask-about',
      group: 'ask',
      label: shellTexts.askAbout(needle),
      icon: { kind: 'icon', name: 'spark' },
      run: after(() => void navigate(paths.ask({ project: pageProjectId ?? undefined, q: needle }))),
    },
  ]
}

function commandRows(
  bindings: ReturnType<typeof useRegisteredKeys>,
  after: (act: () => void) => () => void,
): PaletteRow[] {
  return bindings
    .filter((binding) => binding.sheetOnly !== true)
    .map((binding) => ({
      key: `k-${binding.keys}`,
      group: 'commands',
      label: binding.label,
      icon: { kind: 'icon', name: 'right' },
      keys: binding.keys,
      run: after(binding.run),
    }))
}
