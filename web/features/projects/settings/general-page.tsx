import { SettingRow } from '../../../frames/setting-row.tsx'
import { platformName } from '#shared/platforms.ts'
import { MAX_AUTO_RESOLVE_DAYS } from '#shared/limits.ts'
import { ApiError, call } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import { projectSettingsQuery, type ProjectSettings } from '../../../api/queries.ts'
import { CriticalPathsForm } from './critical-paths-form.tsx'
import { DeleteProjectCard } from './delete-project.tsx'
import { FormCard, useSettingsDraft } from './form.tsx'
import { IssueRulesForm } from './issue-rules-form.tsx'
import { ProjectPart } from './project-part.tsx'
import { RequestLimitsForm } from './request-limits-form.tsx'
import { Card } from '../../../ui/card.tsx'
import { Field } from '../../../ui/field.tsx'
import { Switch } from '../../../ui/switch.tsx'
import { Minor } from '../../../ui/text.tsx'
import { formTexts } from '../../../forms/form-texts.ts'
import { settingsTexts } from './texts.ts'
import typeStyles from '../../../ui/type.module.css'

const texts = settingsTexts.generalPage

export const ProjectGeneralPage = () => (
  <ProjectPart title={settingsTexts.general} lead={texts.lead} what={settingsTexts.frame} heightPx={320}>
    {(project, why) => <Forms key={project.id} project={project} why={why} />}
  </ProjectPart>
)

type Identity = { name: string; slug: string }
const isDayCount = (text: string): boolean => /^\d{1,3}$/.test(text) && Number(text) <= MAX_AUTO_RESOLVE_DAYS

type Behaviour = { environment: string; days: string }

function Forms({ project, why }: { project: ProjectSettings; why: string | undefined }) {
  const identity = useSettingsDraft(project, {
    draftOf: ({ name, slug }) => ({ name, slug }),
    patchOf: ({ name, slug }: Identity) => ({ name: name.trim(), slug: slug.trim() }),
    isWhole: ({ name }) => name.trim() !== '',
    said: texts.savedName,
    why,
  })
  const behaviour = useSettingsDraft(project, {
    draftOf: (stored) => ({ environment: stored.default_environment, days: String(stored.auto_resolve_days) }),
    patchOf: ({ environment, days }: Behaviour) => ({
      default_environment: environment.trim(),
      auto_resolve_days: Number(days),
    }),
    isWhole: ({ days }) => isDayCount(days),
    said: texts.savedBehaviour,
    why,
  })
  const kept = useChange({
    send: (body: { store_profiles?: boolean; store_replays?: boolean }) =>
      call('PATCH /api/projects/:projectId/settings', { params: { projectId: project.id }, body }),
    touches: () => [['projects']],
    settle: (client, answer) => client.setQueryData(projectSettingsQuery(project.id).queryKey, answer),
    said: () => texts.savedKept,
    failed: texts.keptFailed,
  })
  const { name, slug } = identity.draft
  const { environment, days } = behaviour.draft
  const nameError = name.trim() === '' ? texts.nameMissing : undefined
  const daysError = isDayCount(days) ? undefined : texts.daysWrong
  const readOnly = why !== undefined
  return (
    <>
      <FormCard title={texts.identity} form={identity.form}>
        <Field
          label={texts.name}
          value={name}
          readOnly={readOnly}
          error={nameError ?? errorOf(identity.error, 'name')}
          onChange={(event) => identity.set({ name: event.target.value })}
        />
        <Field
          label={texts.slug}
          value={slug}
          readOnly={readOnly}
          className={typeStyles.mono}
          hint={texts.slugHint}
          error={errorOf(identity.error, 'slug')}
          onChange={(event) => identity.set({ slug: event.target.value.toLowerCase() })}
        />
        <Field label={texts.platform} value={platformName(project.platform)} disabled hint={texts.platformHint} />
        <Field label={texts.region} value={formTexts.regions[project.region]} disabled hint={texts.regionHint} />
      </FormCard>
      <FormCard title={texts.behaviour} form={behaviour.form}>
        <Field
          label={texts.environment}
          value={environment}
          readOnly={readOnly}
          className={typeStyles.mono}
          hint={texts.environmentHint}
          error={errorOf(behaviour.error, 'default_environment')}
          onChange={(event) => behaviour.set({ environment: event.target.value })}
        />
        <Field
          label={texts.autoResolve}
          value={days}
          readOnly={readOnly}
          inputMode="numeric"
          hint={texts.autoResolveHint}
          error={daysError ?? errorOf(behaviour.error, 'auto_resolve_days')}
          after={<Minor>{texts.days}</Minor>}
          onChange={(event) => behaviour.set({ days: event.target.value.trim() })}
        />
      </FormCard>
      <IssueRulesForm project={project} why={why} />
      {project.platform === 'web' ? <RequestLimitsForm project={project} why={why} /> : null}
      <CriticalPathsForm project={project} why={why} />
      <Card title={texts.kept}>
        <ul>
          <KeptRow
            title={texts.profiles}
            more={texts.profilesMore}
            checked={project.store_profiles}
            why={why}
            onChange={(store) => kept.mutate({ store_profiles: store })}
          />
          <KeptRow
            title={texts.replays}
            more={texts.replaysMore}
            checked={project.store_replays}
            why={why}
            onChange={(store) => kept.mutate({ store_replays: store })}
          />
        </ul>
      </Card>
      <DeleteProjectCard project={project} />
    </>
  )
}

type KeptRowProps = {
  title: string
  more: string
  checked: boolean
  why: string | undefined
  onChange: (checked: boolean) => void
}

/** A switch that is saved immediately. */
function KeptRow({ title, more, checked, why, onChange }: KeptRowProps) {
  return (
    <SettingRow title={title} more={more}>
      <Switch label={title} checked={checked} why={why} onChange={onChange} />
    </SettingRow>
  )
}

const LABELS = {
  name: texts.name,
  slug: texts.slug,
  default_environment: texts.environment,
  auto_resolve_days: texts.autoResolve,
}

/** The error at its field; one that names none is at the first field of its card. */
function errorOf(error: Error | null, field: keyof typeof LABELS): string | undefined {
  if (error === null) return undefined
  const about = error instanceof ApiError && error.status === 409 ? 'slug' : (/^\w+/.exec(error.message)?.[0] ?? '')
  const isFirst = field === 'name' || field === 'default_environment'
  return about === field || (!Object.hasOwn(LABELS, about) && isFirst) ? errorSentence(error, LABELS) : undefined
}
