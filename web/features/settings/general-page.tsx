import { platformName } from '#shared/platforms.ts'
import { MAX_AUTO_RESOLVE_DAYS } from '#shared/limits.ts'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, call } from '../../api/call.ts'
import { reasonOf, useChange } from '../../api/change.ts'
import { projectSettingsQuery, type ProjectSettings } from '../../api/queries.ts'
import { useCan } from '../../common/can.ts'
import { CriticalPathsForm } from './critical-paths-form.tsx'
import { DeleteProjectCard } from './delete-project.tsx'
import { FormCard } from './form-card.tsx'
import { IssueRulesForm } from './issue-rules-form.tsx'
import { ProjectPart } from './project-part.tsx'
import { Card } from '../../ui/card.tsx'
import { Field } from '../../ui/field.tsx'
import { Switch } from '../../ui/switch.tsx'
import { Minor } from '../../ui/text.tsx'
import { commonTexts } from '../../common/texts.ts'
import { settingsTexts } from './texts.ts'
import styles from '../../common/settings.module.css'
import typeStyles from '../../ui/type.module.css'

const route = getRouteApi('/signed-in/shell/projects/$projectId/settings/general')
const texts = settingsTexts.generalPage

type Patch = {
  name?: string
  slug?: string
  default_environment?: string
  auto_resolve_days?: number
  store_profiles?: boolean
  store_replays?: boolean
}

export function ProjectGeneralPage() {
  const { projectId } = route.useParams()
  const project = useQuery(projectSettingsQuery(projectId))
  const may = useCan('projects.write')
  return (
    <ProjectPart
      title={settingsTexts.general}
      lead={texts.lead}
      what={settingsTexts.frame}
      heightPx={320}
      mayChange={may.allowed}
      project={project}
    >
      {(data) => <Forms key={projectId} project={data} why={may.why} />}
    </ProjectPart>
  )
}

function Forms({ project, why }: { project: ProjectSettings; why: string | undefined }) {
  const [name, setName] = useState(project.name)
  const [slug, setSlug] = useState(project.slug)
  const [environment, setEnvironment] = useState(project.default_environment)
  const [days, setDays] = useState(String(project.auto_resolve_days))
  const identity = useSave(project.id, texts.savedName)
  const behaviour = useSave(project.id, texts.savedBehaviour)
  const kept = useSave(project.id, texts.savedKept)

  const identityDirty = name !== project.name || slug !== project.slug
  const behaviourDirty = environment !== project.default_environment || days !== String(project.auto_resolve_days)
  const nameError = name.trim() === '' ? texts.nameMissing : undefined
  const daysError = /^\d{1,3}$/.test(days) && Number(days) <= MAX_AUTO_RESOLVE_DAYS ? undefined : texts.daysWrong

  const saveIdentity = () => {
    if (identityDirty && nameError === undefined && why === undefined) identity.save({ name: name.trim(), slug })
  }
  const saveBehaviour = () => {
    if (behaviourDirty && daysError === undefined && why === undefined)
      behaviour.save({ default_environment: environment, auto_resolve_days: Number(days) })
  }
  const readOnly = why !== undefined
  return (
    <>
      <FormCard
        title={texts.identity}
        dirty={identityDirty}
        busy={identity.busy}
        why={why}
        onSave={saveIdentity}
        onDiscard={() => {
          setName(project.name)
          setSlug(project.slug)
          identity.reset()
        }}
      >
        <Field
          label={texts.name}
          value={name}
          readOnly={readOnly}
          error={nameError ?? identity.errorOf('name')}
          onChange={(event) => setName(event.target.value)}
        />
        <Field
          label={texts.slug}
          value={slug}
          readOnly={readOnly}
          className={typeStyles.mono}
          hint={texts.slugHint}
          error={identity.errorOf('slug')}
          onChange={(event) => setSlug(event.target.value.toLowerCase())}
        />
        <Field label={texts.platform} value={platformName(project.platform)} disabled hint={texts.platformHint} />
        <Field label={texts.region} value={commonTexts.regions[project.region]} disabled hint={texts.regionHint} />
      </FormCard>
      <FormCard
        title={texts.behaviour}
        dirty={behaviourDirty}
        busy={behaviour.busy}
        why={why}
        onSave={saveBehaviour}
        onDiscard={() => {
          setEnvironment(project.default_environment)
          setDays(String(project.auto_resolve_days))
          behaviour.reset()
        }}
      >
        <Field
          label={texts.environment}
          value={environment}
          readOnly={readOnly}
          className={typeStyles.mono}
          hint={texts.environmentHint}
          error={behaviour.errorOf('default_environment')}
          onChange={(event) => setEnvironment(event.target.value)}
        />
        <Field
          label={texts.autoResolve}
          value={days}
          readOnly={readOnly}
          inputMode="numeric"
          hint={texts.autoResolveHint}
          error={daysError ?? behaviour.errorOf('auto_resolve_days')}
          after={<Minor>{texts.days}</Minor>}
          onChange={(event) => setDays(event.target.value.trim())}
        />
      </FormCard>
      <IssueRulesForm project={project} why={why} />
      <CriticalPathsForm project={project} why={why} />
      <Card title={texts.kept}>
        <ul>
          <KeptRow
            title={texts.profiles}
            more={texts.profilesMore}
            checked={project.store_profiles}
            why={why}
            onChange={(store) => kept.save({ store_profiles: store })}
          />
          <KeptRow
            title={texts.replays}
            more={texts.replaysMore}
            checked={project.store_replays}
            why={why}
            onChange={(store) => kept.save({ store_replays: store })}
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
    <li className={styles.row}>
      <div>
        <b>{title}</b>
        <Minor as="p">{more}</Minor>
      </div>
      <Switch label={title} checked={checked} why={why} onChange={onChange} />
    </li>
  )
}

const LABELS = {
  name: texts.name,
  slug: texts.slug,
  default_environment: texts.environment,
  auto_resolve_days: texts.autoResolve,
}

/** Saves a part of the settings. The error of a field is shown there, any other in a toast. */
function useSave(projectId: string, said: string) {
  const change = useChange({
    send: (body: Patch) => call('PATCH /api/projects/:projectId/settings', { params: { projectId }, body }),
    touches: () => [['projects']],
    settle: (client, answer) => client.setQueryData(projectSettingsQuery(projectId).queryKey, answer),
    said: () => said,
    failed: null,
  })
  const { error } = change
  return {
    save: (body: Patch) => change.mutate(body),
    reset: () => change.reset(),
    busy: change.isPending,
    errorOf: (field: string) => {
      if (error === null) return undefined
      const about = error instanceof ApiError && error.status === 409 ? 'slug' : (/^\w+/.exec(error.message)?.[0] ?? '')
      const known = ['name', 'slug', 'default_environment', 'auto_resolve_days'].includes(about)
      return about === field || (!known && (field === 'name' || field === 'default_environment'))
        ? reasonOf(error, LABELS)
        : undefined
    },
  }
}
