import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { paths } from '../../../address/paths.ts'
import type { ProjectSettings } from '../../../api/queries.ts'
import { SettingRow } from '../../../frames/setting-row.tsx'
import { SnippetTabs } from '../../../subjects/projects/snippet-tabs.tsx'
import type { SnippetPlatform } from '../../../subjects/projects/snippets.ts'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Field, SelectField } from '../../../ui/field.tsx'
import { Note } from '../../../ui/note.tsx'
import settingsStyles from '../../../frames/settings.module.css'
import fitStyles from '../../../ui/fit.module.css'
import typeStyles from '../../../ui/type.module.css'
import { ProjectPart } from './project-part.tsx'
import { settingsTexts } from './texts.ts'

const texts = settingsTexts.installPage

/** How an app is connected to the project, as the set-up showed it. */
export const ProjectInstallPage = () => (
  <ProjectPart title={settingsTexts.install} lead={texts.lead} heightPx={420}>
    {(project) => <Install key={project.id} project={project} />}
  </ProjectPart>
)

function Install({ project }: { project: ProjectSettings }) {
  const [platform, setPlatform] = useState<SnippetPlatform>(project.platform)
  const [chosen, setChosen] = useState<string | null>(null)
  const usable = project.keys.filter((key) => key.expires_at === null && key.is_enabled)
  const key = usable.find(({ id }) => id === chosen) ?? usable[0]
  if (key === undefined)
    return (
      <Note tone="amber" icon="warn">
        {texts.noKey} <Link {...paths.projectKeys(project.id)}>{settingsTexts.keys}</Link>
      </Note>
    )
  return (
    <>
      <Card title={texts.snippet}>
        <div className={classNames(settingsStyles.body, settingsStyles.page)}>
          <SnippetTabs platform={platform} dsn={key.dsn} onChange={setPlatform} />
          {usable.length < 2 ? null : (
            <SelectField label={texts.key} value={key.id} onChange={(event) => setChosen(event.target.value)}>
              {usable.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </SelectField>
          )}
          <div className={classNames(settingsStyles.dsn, fitStyles.bareInput)}>
            <Field
              label={texts.dsn}
              hint={texts.dsnHint}
              className={typeStyles.mono}
              readOnly
              value={key.dsn}
              onFocus={(event) => event.target.select()}
              after={<CopyButton size="sm" text={key.dsn} said={texts.dsnCopied} />}
            />
          </div>
        </div>
      </Card>
      <Card title={texts.next}>
        <ul>
          <SettingRow title={texts.check} more={texts.checkMore}>
            <Link {...paths.onboarding({ project: project.id })}>{texts.checkLink}</Link>
          </SettingRow>
          <SettingRow title={texts.symbols} more={texts.symbolsMore}>
            <Link {...paths.symbols({ project: project.id })}>{texts.symbolsLink}</Link>
          </SettingRow>
        </ul>
      </Card>
    </>
  )
}
