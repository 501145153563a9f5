import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { reasonOf } from '../../api/change.ts'
import type { Me, Project } from '../../api/queries.ts'
import { can } from '../../common/can.ts'
import { paths } from '../../address/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Field, SelectField, FieldLegend } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { Switch } from '../../ui/switch.tsx'
import { PlatformTile, platformName } from '../../ui/platform-tile.tsx'
import { Minor } from '../../ui/text.tsx'
import { PageMain } from '../../ui/page-main.tsx'
import { commonTexts } from '../../common/texts.ts'
import { onboardingTexts } from './texts.ts'
import { Steps } from './steps.tsx'
import settingsStyles from '../../common/settings.module.css'
import styles from './project-step.module.css'
import typeStyles from '../../ui/type.module.css'

const texts = onboardingTexts.project
const PLATFORMS = ['android', 'ios', 'react-native', 'flutter', 'web'] as const satisfies readonly Project['platform'][]
const REGIONS = ['eu-central-1', 'us-east-1', 'af-south-1'] as const satisfies readonly Project['region'][]
/** Regions where storing IP addresses needs a legal basis. */
const OFFERS_HIDING: ReadonlySet<Project['region']> = new Set<Project['region']>(['eu-central-1', 'af-south-1'])

/** The form of a new project: name, platform, region. */
export function ProjectStep({ role }: { role: Me['user']['role'] }) {
  const [name, setName] = useState('')
  const [platform, setPlatform] = useState<Project['platform']>('web')
  const [region, setRegion] = useState<Project['region']>('eu-central-1')
  const [hideAddresses, setHideAddresses] = useState(false)
  const [tried, setTried] = useState(false)
  const client = useQueryClient()
  const navigate = useNavigate()
  const create = useMutation({
    mutationFn: () =>
      call('POST /api/projects', {
        body: { name: name.trim(), platform, region, scrub_ip_addresses: hideAddresses && OFFERS_HIDING.has(region) },
      }),
    onSuccess: async (project) => {
      await client.invalidateQueries({ queryKey: ['projects'] })
      return navigate(paths.onboarding({ project: project.id, step: 'sdk' }))
    },
  })
  const missing = tried && name.trim() === '' ? texts.nameMissing : undefined
  const submit = () => {
    setTried(true)
    if (name.trim() !== '' && !create.isPending) create.mutate()
  }

  return (
    <PageMain className={settingsStyles.setUpPage}>
      <div className={settingsStyles.setUp}>
        <Steps
          project={{ done: false, now: true, more: onboardingTexts.steps.projectMore }}
          sdk={{ done: false, now: false, more: onboardingTexts.steps.sdkMore }}
          event={{ done: false, now: false, more: onboardingTexts.steps.eventNext }}
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
                error={missing ?? (create.error === null ? undefined : reasonOf(create.error))}
                onChange={(event) => setName(event.target.value)}
              />
              <fieldset className={styles.platforms}>
                <FieldLegend>{texts.platform}</FieldLegend>
                {PLATFORMS.map((one) => (
                  <label key={one} className={styles.platform}>
                    <input
                      type="radio"
                      name="platform"
                      className={typeStyles.hidden}
                      value={one}
                      checked={one === platform}
                      onChange={() => setPlatform(one)}
                    />
                    <PlatformTile platform={one} quiet />
                    <span>{platformName(one)}</span>
                  </label>
                ))}
              </fieldset>
              <SelectField
                label={texts.region}
                hint={texts.regionHint}
                value={region}
                onChange={(event) => setRegion(REGIONS.find((one) => one === event.target.value) ?? 'eu-central-1')}
              >
                {REGIONS.map((one) => (
                  <option key={one} value={one}>
                    {commonTexts.regions[one]}
                  </option>
                ))}
              </SelectField>
              {OFFERS_HIDING.has(region) ? (
                <div className={`${settingsStyles.row} ${styles.offer}`}>
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
