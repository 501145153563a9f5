import { ErrorNote } from '../../../forms/error-note.tsx'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call, type AnswerOf } from '../../../api/call.ts'
import { errorSentence } from '../../../api/change.ts'
import type { ProjectSettings } from '../../../api/queries.ts'
import { settingsTexts } from './texts.ts'
import { SettingRow } from '../../../frames/setting-row.tsx'
import { ProjectPart } from './project-part.tsx'
import { SettingsForm, useSettingsDraft } from './form.tsx'
import { paths } from '../../../address/paths.ts'
import { AreaField, splitLines } from '../../../ui/area-field.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { InputBox } from '../../../ui/field.tsx'
import { Spacer, Stack } from '../../../ui/stack.tsx'
import { Switch } from '../../../ui/switch.tsx'
import { Minor } from '../../../ui/text.tsx'
import { privacyTexts } from './privacy-texts.ts'
import settingsStyles from '../../../frames/settings.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import styles from './filters-page.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = privacyTexts.filters

type Filters = ProjectSettings['inbound_filters']
type Preview = AnswerOf<'POST /api/projects/:projectId/filters/preview'>
type Browser = keyof typeof texts.browserNames

const SWITCHES = ['browser_extensions', 'localhost', 'web_crawlers', 'health_checks'] as const
/** The reason that the response names for each filter. */
const REASONS: Readonly<Record<(typeof SWITCHES)[number], string>> = {
  browser_extensions: 'browser_extension',
  localhost: 'localhost',
  web_crawlers: 'web_crawler',
  health_checks: 'health_check',
}
/** Proposed versions: older browsers lack modern features such as modules. */
const BROWSERS: readonly [Browser, number][] = [
  ['ie', 12],
  ['edge', 79],
  ['chrome', 64],
  ['firefox', 67],
  ['safari', 12],
  ['opera', 51],
  ['samsung', 9],
  ['android', 5],
]
const LISTS = ['releases', 'messages', 'ip_addresses', 'health_check_names'] as const
const LIST_WORDS = {
  releases: [texts.releases, texts.releasesHint],
  messages: [texts.messages, texts.messagesHint],
  ip_addresses: [texts.addresses, texts.addressesHint],
  health_check_names: [texts.healthNames, texts.healthNamesHint],
} as const

export const ProjectFiltersPage = () => (
  <ProjectPart title={texts.title} lead={texts.lead} heightPx={420}>
    {(project, why) => <FiltersForm key={project.id} project={project} why={why} />}
  </ProjectPart>
)

/** Lists and versions as typed text; parsed when they are sent. */
type Draft = Pick<Filters, (typeof SWITCHES)[number]> & {
  lists: Record<(typeof LISTS)[number], string>
  browsers: Record<string, string | null>
}

const draftOf = (filters: Filters): Draft => ({
  browser_extensions: filters.browser_extensions,
  localhost: filters.localhost,
  web_crawlers: filters.web_crawlers,
  health_checks: filters.health_checks,
  lists: {
    releases: filters.releases.join('\n'),
    messages: filters.messages.join('\n'),
    ip_addresses: filters.ip_addresses.join('\n'),
    health_check_names: filters.health_check_names.join('\n'),
  },
  browsers: Object.fromEntries(
    BROWSERS.map(([name]) => [
      name,
      filters.legacy_browsers[name] === undefined ? null : String(filters.legacy_browsers[name]),
    ]),
  ),
})

const filtersOf = (draft: Draft): Filters => ({
  browser_extensions: draft.browser_extensions,
  localhost: draft.localhost,
  web_crawlers: draft.web_crawlers,
  health_checks: draft.health_checks,
  releases: splitLines(draft.lists.releases),
  messages: splitLines(draft.lists.messages),
  ip_addresses: splitLines(draft.lists.ip_addresses),
  health_check_names: splitLines(draft.lists.health_check_names),
  legacy_browsers: Object.fromEntries(
    BROWSERS.flatMap(([name]) => (draft.browsers[name] == null ? [] : [[name, Number(draft.browsers[name])]])),
  ),
})

function FiltersForm({ project, why }: { project: ProjectSettings; why: string | undefined }) {
  const dryRun = useMutation({
    mutationFn: (sent: Draft) =>
      call('POST /api/projects/:projectId/filters/preview', {
        params: { projectId: project.id },
        body: { inbound_filters: filtersOf(sent) },
      }),
  })
  const { draft, set, error, form } = useSettingsDraft(project, {
    draftOf: ({ inbound_filters: filters }) => draftOf(filters),
    patchOf: (sent: Draft) => ({ inbound_filters: filtersOf(sent) }),
    said: texts.saved,
    why,
    onChange: () => dryRun.reset(),
  })
  const would = (reason: string, pattern: string | null) =>
    dryRun.data?.filters.find((one) => one.filter === reason && one.pattern === pattern)?.would_drop

  return (
    <SettingsForm name={texts.title} error={error} failed={texts.failed} form={form}>
      <Card
        title={texts.kinds}
        header={
          <>
            <Minor className={narrowStyles.hiddenAt600}>{texts.kindsMore}</Minor>
            <Spacer />
            <Button size="sm" icon="filter" busy={dryRun.isPending} why={why} onClick={() => dryRun.mutate(draft)}>
              {texts.tryOut}
            </Button>
          </>
        }
      >
        <ul className={settingsStyles.rows}>
          {SWITCHES.map((name) => (
            <SettingRow
              key={name}
              title={texts.switches[name].name}
              more={texts.switches[name].more}
              start={
                <Switch
                  label={texts.switches[name].name}
                  checked={draft[name]}
                  why={why}
                  onChange={(checked) => set({ [name]: checked })}
                />
              }
            >
              <Would count={would(REASONS[name], null)} />
            </SettingRow>
          ))}
        </ul>
      </Card>
      <DryRun preview={dryRun.data} error={dryRun.error} />
      <Card title={texts.lists} header={<Minor className={narrowStyles.hiddenAt600}>{texts.listsMore}</Minor>}>
        <div className={classNames(settingsStyles.lists, narrowStyles.oneColumnAt600, settingsStyles.body)}>
          {LISTS.map((name) => (
            <AreaField
              key={name}
              label={LIST_WORDS[name][0]}
              hint={LIST_WORDS[name][1]}
              value={draft.lists[name]}
              readOnly={why !== undefined}
              error={problemOf(error ?? dryRun.error, name)}
              onChange={(text) => set({ lists: { ...draft.lists, [name]: text } })}
            />
          ))}
        </div>
      </Card>
      <Card title={texts.browsers} header={<Minor className={narrowStyles.hiddenAt600}>{texts.browsersMore}</Minor>}>
        <ul className={settingsStyles.rows}>
          {BROWSERS.map(([name, standard]) => {
            const version = draft.browsers[name] ?? null
            return (
              <SettingRow
                key={name}
                title={texts.browserNames[name]}
                start={
                  <Switch
                    label={texts.browserNames[name]}
                    checked={version !== null}
                    why={why}
                    onChange={(on) => set({ browsers: { ...draft.browsers, [name]: on ? String(standard) : null } })}
                  />
                }
              >
                <Would count={would('legacy_browser', name)} />
                {version === null ? null : (
                  <span className={settingsStyles.version}>
                    <Minor>{texts.beforeShort}</Minor>
                    <InputBox>
                      <input
                        inputMode="numeric"
                        aria-label={texts.before(texts.browserNames[name])}
                        value={version}
                        readOnly={why !== undefined}
                        onChange={(event) =>
                          set({
                            browsers: {
                              ...draft.browsers,
                              [name]: event.target.value.replaceAll(/\D/g, '').slice(0, 3),
                            },
                          })
                        }
                      />
                    </InputBox>
                  </span>
                )}
              </SettingRow>
            )
          })}
        </ul>
      </Card>
    </SettingsForm>
  )
}

const browserName = (pattern: string): string | undefined =>
  BROWSERS.flatMap(([name]) => (name === pattern ? [texts.browserNames[name]] : []))[0]

const Would = ({ count }: { count: number | undefined }) =>
  count === undefined ? null : (
    <span className={`${typeStyles.figures} ${settingsStyles.count}`}>{texts.would(count)}</span>
  )

/** The error of a field: one that contains its name. */
const problemOf = (error: Error | null, field: string): string | undefined => {
  if (error === null) return undefined
  const reason = errorSentence(error)
  return new RegExp(`\\b${field}\\b`).test(reason) ? errorSentence(error, settingsTexts.fields) : undefined
}

function DryRun({ preview, error }: { preview: Preview | undefined; error: Error | null }) {
  if (error !== null) return <ErrorNote error={error} before={texts.tryFailed} labels={settingsTexts.fields} />
  if (preview === undefined) return null
  // Lines of a list without matches are shown too, because they may have a typing error.
  const hits = preview.filters.filter(({ would_drop: dropped, pattern }) => dropped > 0 || pattern !== null)
  return (
    <Card role="status" title={texts.tryOut}>
      <div className={classNames(styles.would, typeStyles.tallLinks, typeStyles.smallHeads, fitStyles.insetGrid)}>
        <p>
          {preview.of === 0 ? texts.nothingStored : texts.looked(preview.looked_at, preview.of, preview.would_drop)}
        </p>
        {hits.length === 0 ? null : (
          <>
            <h3>{texts.examples}</h3>
            <Stack as="ul">
              {hits.map(({ filter, pattern, would_drop: dropped, examples }) => (
                <li key={`${filter} ${pattern ?? ''}`}>
                  <b>{texts.reasons[filter] ?? filter}</b>
                  {pattern === null ? null : (
                    <span className={`${typeStyles.mono} ${styles.pattern}`}>{browserName(pattern) ?? pattern}</span>
                  )}
                  <span className={typeStyles.figures}>{texts.would(dropped)}</span>
                  <ul>
                    {examples.map((example) => (
                      <li key={example.event_id}>
                        <Link
                          className={typeStyles.link}
                          {...paths.issue(example.issue_id, { event: example.event_id })}
                        >
                          {example.title}
                        </Link>
                      </li>
                    ))}
                  </ul>
                </li>
              ))}
            </Stack>
          </>
        )}
      </div>
    </Card>
  )
}
