import { ChooseProject } from '../../../frames/choose-project.tsx'
import { usePageTitle } from '../../../app/page-title.ts'
import { paths } from '../../../address/paths.ts'
import { PageHead } from '../../../ui/page-head.tsx'
import { PageMain } from '../../../ui/page-main.tsx'
import { settingsTexts } from './texts.ts'

/** The choice of the project whose settings to show. */
export function ChooseSettingsPage() {
  usePageTitle(settingsTexts.projectSettings)
  return (
    <PageMain>
      <PageHead>
        <h1>{settingsTexts.projectSettings}</h1>
      </PageHead>
      <ChooseProject search={{}} pageOf={settingsOf} />
    </PageMain>
  )
}

const settingsOf = ({ project }: { project?: string | undefined }) =>
  project === undefined ? paths.chooseSettings() : paths.projectGeneral(project)
