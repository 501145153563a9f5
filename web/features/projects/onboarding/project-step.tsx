import { platformName } from '#shared/platforms.ts'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { errorSentence } from '../../../api/change.ts'
import { onboardingQuery, type Me, type Project } from '../../../api/queries.ts'
import { can } from '../../../app/can.ts'
import { paths } from '../../../address/paths.ts'
import { Button } from '../../../ui/button.tsx'
import { Field, SelectField, FieldLegend } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { Note } from '../../../ui/note.tsx'
import { Switch } from '../../../ui/switch.tsx'
import { PlatformTile } from '../../../ui/platform-tile.tsx'
import { Minor } from '../../../ui/text.tsx'
import { PageMain } from '../../../ui/page-main.tsx'
import { formTexts } from '../../../forms/form-texts.ts'
import { onboardingTexts } from './texts.ts'
import { APPS, isServer, SERVERS, type SnippetPlatform } from '../../../subjects/projects/snippets.ts'
import { Steps } from './steps.tsx'
import settingsStyles from '../../../frames/settings.module.css'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import styles from './project-step.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = onboardingTexts.project
/** Region of data whose storage of IP addresses needs no legal basis. */
const WITHOUT_HIDING: Project['region'] = 'us-east-1'

/** The form of a new project: name, platform, and region where there are several. */
export function ProjectStep({ role }: { role: Me['user']['role'] }) {
  const [name, setName] = useState('')
  const [sdk, setSdk] = useState<SnippetPlatform>('web')
  const [chosen, setRegion] = useState<Project['region'] | null>(null)
  const [hideAddresses, setHideAddresses] = useState(false)
  const [tried, setTried] = useState(false)
  const { data: installation } = useQuery({ ...onboardingQuery, meta: { quiet: true } })
  const regions = installation?.regions ?? []
  const region = chosen ?? installation?.default_region ?? WITHOUT_HIDING
  /** Without a choice of regions, only the operator knows where the data is. */
  const offersHiding = regions.length < 2 || region !== WITHOUT_HIDING
  const client = useQueryClient()
  const navigate = useNavigate()
  const create = useMutation({
    mutationFn: () =>
      call('POST /api/projects', {
        body: {
          name: name.trim(),
          platform: isServer(sdk) ? 'web' : sdk,
          region,
          scrub_ip_addresses: hideAddresses && offersHiding,
        },
      }),
    onSuccess: async (project) => {
      await client.invalidateQueries({ queryKey: ['projects'] })
      return navigate(paths.onboarding({ project: project.id, step: 'sdk', ...(isServer(sdk) ? { sdk } : {}) }))
    },
  })
  const missing = tried && name.trim() === '' ? texts.nameMissing : undefined
  const submit = () => {
    setTried(true)
    if (name.trim() !== '' && !create.isPending) create.mutate()
  }

  return (
    <PageMain className={fitStyles.barePage}>
      <div className={classNames(settingsStyles.setUp, typeStyles.bigHead)}>
        <Steps
          project={{ done: false, now: true, more: onboardingTexts.steps.projectMore }}
          sdk={{ done: false, now: false, more: onboardingTexts.steps.sdkMore }}
          event={{ done: false, now: false, more: onboardingTexts.steps.eventNext }}
          symbols={isServer(sdk) ? null : { done: false, now: false, more: onboardingTexts.steps.symbolsMore }}
        />
        <div className={settingsStyles.setUpMain}>
          <h1>{texts.heading}</h1>
          <p className={settingsStyles.lead}>{texts.lead}</p>
          {can(role, 'projects.write').allowed ? (
            <Form className={styles.form} onSubmit={submit}>
              <Field
                label={texts.name}
                value={name}
                autoFocus
                autoComplete="off"
                placeholder={texts.namePlaceholder}
                error={missing ?? (create.error === null ? undefined : errorSentence(create.error))}
                onChange={(event) => setName(event.target.value)}
              />
              <Platforms legend={texts.platform} platforms={APPS} value={sdk} onChange={setSdk} />
              <Platforms legend={texts.servers} platforms={SERVERS} value={sdk} onChange={setSdk} />
              {regions.length < 2 ? null : (
                <SelectField
                  label={texts.region}
                  hint={texts.regionHint}
                  value={region}
                  onChange={(event) => setRegion(regions.find((one) => one === event.target.value) ?? null)}
                >
                  {regions.map((one) => (
                    <option key={one} value={one}>
                      {formTexts.regions[one]}
                    </option>
                  ))}
                </SelectField>
              )}
              {offersHiding ? (
                <div
                  className={classNames(
                    settingsStyles.row,
                    typeStyles.mediumNames,
                    narrowStyles.wrapsAt600,
                    styles.offer,
                  )}
                >
                  <Switch label={texts.hideAddresses} checked={hideAddresses} onChange={setHideAddresses} />
                  <div>
                    <b>{texts.hideAddresses}</b>
                    <Minor as="p">{texts.hideAddressesMore}</Minor>
                  </div>
                </div>
              ) : null}
              <div>
                <Button type="submit" look="primary" size="lg" busy={create.isPending}>
                  {texts.create}
                </Button>
              </div>
            </Form>
          ) : (
            <Note tone="blue" icon="lock">
              {texts.notAllowed}
            </Note>
          )}
        </div>
      </div>
    </PageMain>
  )
}

function Platforms<P extends SnippetPlatform>({
  legend,
  platforms,
  value,
  onChange,
}: {
  legend: string
  platforms: readonly P[]
  value: SnippetPlatform
  onChange: (platform: P) => void
}) {
  return (
    <fieldset className={classNames(styles.platforms, fitStyles.bareLegend)}>
      <FieldLegend>{legend}</FieldLegend>
      {platforms.map((one) => (
        <label key={one} className={classNames(styles.platform, choiceStyles.framed, choiceStyles.hovers)}>
          <input
            type="radio"
            name="platform"
            className={typeStyles.hidden}
            value={one}
            checked={one === value}
            onChange={() => onChange(one)}
          />
          <PlatformTile platform={one} quiet />
          <span>{platformName(one)}</span>
        </label>
      ))}
    </fieldset>
  )
}
