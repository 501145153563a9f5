import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouter, type LinkProps } from '@tanstack/react-router'
import { Fragment, useState } from 'react'
import type { Role } from '#shared/permissions.ts'
import { teamQuery } from '../api/member-queries.ts'
import { setPrefs, usePrefs } from '../app/prefs.ts'
import { displayName } from '../subjects/members/names.ts'
import { issueSearchQuery, meQuery, projectsQuery, type Project } from '../api/queries.ts'
import { can, type Action } from '../app/can.ts'
import { useRegisteredKeys } from '../app/keys.ts'
import { GUIDE_PATH } from '../address/guide.ts'
import { paths } from '../address/paths.ts'
import { useScope } from '../app/use-scope.ts'
import { readRecents } from '../app/recents.ts'
import { useCombobox } from '../ui/combobox.ts'
import { useDelayed } from '../ui/delayed.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { PlatformTile } from '../ui/platform-tile.tsx'
import { Severity } from '../ui/status.tsx'
import { appTexts } from '../app/texts.ts'
import { paletteTexts } from './palette-texts.ts'
import { shellTexts } from './texts.ts'
import {
  boldParts,
  groupPaletteRows,
  kindOfPlace,
  knownIssues,
  matchesWords,
  type PaletteIssue,
  type PaletteRow,
} from './palette-rows.ts'
import styles from './palette.module.css'

type PaletteProps = {
  onClose: () => void
  /** Opens the dialog that invites members. */
  onInvite: () => void
}

/**
 * The command palette: pages, commands, issues and members. What is known is shown immediately; the server's results are
 * added below, so that no row moves.
 */
export function Palette({ onClose, onInvite }: PaletteProps) {
  const [text, setText] = useState('')
  const rows = useRows(text, onClose, onInvite)
  const groups = groupPaletteRows(rows)
  const flat = groups.flatMap((group) => group.rows)
  const box = useCombobox({ options: flat, onChoose: (row) => row.run(), text, onText: setText })

  return (
    <Dialog open bare title={shellTexts.palette} className={styles.palette} onClose={onClose}>
      <div className={styles.input}>
        <Icon name="search" />
        <input {...box.input} data-autofocus aria-label={shellTexts.palette} placeholder={paletteTexts.placeholder} />
        <span className={styles.escape}>
          <Kbd keys="escape" />
        </span>
      </div>
      <div {...box.list} className={styles.list} aria-label={paletteTexts.results}>
        {groups.map((group) => (
          <div role="group" aria-label={paletteTexts.groups[group.name]} key={group.name}>
            <p className={styles.heading} role="presentation">
              {paletteTexts.groups[group.name]}
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
          {paletteTexts.none(text)}
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
function useRows(text: string, onClose: () => void, onInvite: () => void): PaletteRow[] {
  const client = useQueryClient()
  const navigate = useNavigate()
  const router = useRouter()
  const { pageProjectId } = useScope()
  const bindings = useRegisteredKeys()
  const prefs = usePrefs()
  const me = useQuery(meQuery)
  const projects = useQuery(projectsQuery)
  const delayed = useDelayed(text.trim(), 120)
  const found = useQuery(issueSearchQuery(delayed))
  const team = useQuery({ ...teamQuery(delayed), enabled: delayed !== '' })
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
  const role = me.data?.user.role
  const places = placesOf(projects.data?.items ?? [], role, me.data?.operates === true).map(
    ({ link, words, ...place }) => ({
      words,
      row: { ...place, group: 'places', run: after(() => void navigate(link)) } satisfies PaletteRow,
    }),
  )
  const command = (key: string, label: string, icon: IconName, run: () => void): PaletteRow => ({
    key,
    group: 'commands',
    label,
    icon: { kind: 'icon', name: icon },
    run: after(run),
  })
  const { themes, densities, motions } = paletteTexts
  const commands = [
    ...keyCommands(bindings, after),
    command('documentation', paletteTexts.documentation, 'info', () => location.assign(GUIDE_PATH)),
    ...(role !== undefined && can(role, 'team.write').allowed
      ? [command('invite', paletteTexts.invite, 'plus', onInvite)]
      : []),
    command('theme-light', themes.light, 'sun', () => setPrefs({ theme: 'light' })),
    command('theme-dark', themes.dark, 'sun', () => setPrefs({ theme: 'dark' })),
    command('theme-system', themes.system, 'sun', () => setPrefs({ theme: 'system' })),
    ...(prefs.density === 'compact'
      ? [command('comfortable', densities.comfortable, 'menu', () => setPrefs({ density: 'comfortable' }))]
      : [command('compact', densities.compact, 'menu', () => setPrefs({ density: 'compact' }))]),
    ...(prefs.motion === 'reduced'
      ? [command('motion', motions.system, 'pause', () => setPrefs({ motion: 'system' }))]
      : [command('still', motions.reduced, 'pause', () => setPrefs({ motion: 'reduced' }))]),
  ]
  if (needle === '') {
    const here = router.state.location.href
    const recent = recents
      .filter(({ href }) => href !== here)
      .slice(0, 5)
      .map(({ href, title }): PaletteRow => {
        const kind = kindOfPlace(href)
        return {
          key: href,
          group: 'recent',
          label: title,
          meta: kind === null ? undefined : paletteTexts.kinds[kind],
          icon: { kind: 'icon', name: 'clock' },
          run: after(() => router.history.push(href)),
        }
      })
    return [...recent, ...places.slice(0, MAX_OFFERED).map(({ row }) => row), ...commands]
  }

  const inMemory = knownIssues(client, needle)
  const seen = new Set(inMemory.map(({ id }) => id))
  const isFound = delayed === needle
  const fromServer = isFound ? (found.data?.items ?? []).filter(({ id }) => !seen.has(id)) : []
  return [
    ...places
      .filter(({ row, words }) => matchesWords(needle, [row.label, row.meta, words]))
      .map(({ row }) => row)
      .toSorted((a, b) => rankOf(a.label, needle) - rankOf(b.label, needle))
      .slice(0, MAX_OFFERED),
    ...commands.filter(({ label }) => matchesWords(needle, [label])).slice(0, MAX_OFFERED),
    ...[...inMemory, ...fromServer].slice(0, 7).map(issueRow),
    ...(isFound ? (team.data?.items ?? []) : []).slice(0, 4).map((member): PaletteRow => ({
      key: `m-${member.id}`,
      group: 'members',
      label: displayName(member),
      meta: paletteTexts.assignedIssues,
      icon: { kind: 'icon', name: 'user' },
      run: after(() => void navigate(paths.issues({ assignee: member.id }))),
    })),
    {
      key: 'ask-about',
      group: 'ask',
      label: paletteTexts.askAbout(needle),
      icon: { kind: 'icon', name: 'spark' },
      run: after(() => void navigate(paths.ask({ project: pageProjectId ?? undefined, q: needle }))),
    },
  ]
}

/** Places and commands that are listed at once. */
const MAX_OFFERED = 6

/** Labels that begin with the typed text come first. */
const rankOf = (label: string, needle: string): number => (label.toLowerCase().startsWith(needle.toLowerCase()) ? 0 : 1)

type Place = Pick<PaletteRow, 'key' | 'label' | 'icon' | 'meta'> & {
  link: Pick<LinkProps, 'to' | 'params' | 'search'>
  /** Further words that find it. */
  words?: string
}

/** The pages that the palette leads to, as far as the role may read them. */
function placesOf(projects: readonly Project[], role: Role | undefined, operates: boolean): Place[] {
  const place = (key: string, label: string, name: IconName, link: Place['link'], meta?: string): Place => ({
    key,
    label,
    icon: { kind: 'icon', name },
    link,
    meta,
  })
  const may = (action: Action, found: Place): Place[] =>
    role !== undefined && can(role, action).allowed ? [found] : []
  const { organisation } = shellTexts
  const { settingsPages, account, words } = paletteTexts
  return [
    place('issues', shellTexts.issues, 'issues', paths.issues()),
    place('feedback', shellTexts.feedback, 'chat', paths.feedback()),
    place('alerts', shellTexts.alerts, 'bell', paths.alerts()),
    place('overview', shellTexts.overview, 'overview', paths.overview()),
    place('metrics', shellTexts.metrics, 'metrics', paths.metrics()),
    place('performance', shellTexts.performance, 'gauge', paths.performance()),
    place('traces', shellTexts.traces, 'trace', paths.traces()),
    place('logs', shellTexts.logs, 'logs', paths.logs()),
    place('trace-metrics', paletteTexts.traceMetrics, 'metrics', paths.traceMetrics()),
    place('monitors', shellTexts.monitors, 'pulse', paths.monitors()),
    place('releases', shellTexts.releases, 'tag', paths.releases()),
    place('symbols', shellTexts.symbols, 'symbols', paths.symbols()),
    place('ask', shellTexts.ask, 'ask', paths.ask()),
    place('query', shellTexts.query, 'query', paths.query()),
    { ...place('intake', shellTexts.intake, 'download', paths.intake()), words: words.intake },
    ...projects.flatMap(({ id, name, platform }): Place[] => [
      {
        ...place(`p-${id}`, name, 'project', paths.issues({ project: id }), shellTexts.issues),
        icon: { kind: 'platform', platform },
      },
      place(`s-${id}`, name, 'project', paths.projectGeneral(id), shellTexts.projectSettings),
    ]),
    ...projects.flatMap(({ id, name }): Place[] => {
      const page = (key: keyof typeof settingsPages, icon: IconName, to: (projectId: string) => Place['link']) =>
        place(`${key}-${id}`, settingsPages[key], icon, to(id), name)
      return [
        { ...page('keys', 'key', paths.projectKeys), words: words.keys },
        { ...page('install', 'code', paths.projectInstall), words: words.install },
        page('filters', 'project', paths.projectFilters),
        { ...page('scrubbing', 'project', paths.projectScrubbing), words: words.scrubbing },
        { ...page('retention', 'clock', paths.projectRetention), words: words.retention },
        page('grouping', 'project', paths.projectGrouping),
        page('ownership', 'project', paths.projectOwnership),
        page('integrations', 'project', paths.projectIntegrations),
      ]
    }),
    ...may('projects.write', place('new', shellTexts.newProject, 'plus', paths.onboarding({ step: 'project' }))),
    { ...place('org', paletteTexts.general, 'org', paths.organisationGeneral(), organisation), words: words.general },
    { ...place('members', paletteTexts.members, 'user', paths.members(), organisation), words: words.members },
    place('assistant', paletteTexts.assistant, 'spark', paths.assistant(), organisation),
    place('api-keys', paletteTexts.apiKeys, 'key', paths.apiKeys(), organisation),
    ...may('webhooks.read', place('webhooks', paletteTexts.webhooks, 'send', paths.webhooks(), organisation)),
    ...may('imports.manage', place('import', paletteTexts.import, 'download', paths.imports(), organisation)),
    ...may('audit.read', place('audit', paletteTexts.audit, 'org', paths.audit(), organisation)),
    ...may('sso.manage', place('sso', paletteTexts.sso, 'lock', paths.sso(), organisation)),
    ...(operates
      ? [{ ...place('installation', shellTexts.installation, 'cpu', paths.operator()), words: words.installation }]
      : []),
    place('profile', appTexts.profile, 'user', paths.profile(), account),
    { ...place('security', appTexts.security, 'lock', paths.security(), account), words: words.security },
    place('sessions', appTexts.sessions, 'phone', paths.sessions(), account),
    {
      ...place('notifications', appTexts.notifications, 'bell', paths.notifications(), account),
      words: words.notifications,
    },
    {
      ...place('appearance', appTexts.appearance, 'sun', paths.appearance(), account),
      words: words.appearance,
    },
  ]
}

function keyCommands(
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
