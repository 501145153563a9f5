import { useQuery } from '@tanstack/react-query'
import { projectsQuery } from '../../../api/queries.ts'
import { GuideLink } from '../../../frames/guide-link.tsx'
import { CommandBox } from '../../../ui/command-box.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Minor } from '../../../ui/text.tsx'
import { checkInSnippet, EXAMPLE_JOB, firstCheckIn } from './snippets.ts'
import { monitorsTexts as texts } from './texts.ts'

/** How to send the first check-in, with the address of the project, or of the only one. */
export function NoMonitor({ projectId }: { projectId: string | undefined }) {
  const projects = useQuery(projectsQuery).data?.items ?? []
  const project = projects.find(({ id }) => id === projectId) ?? projects[0]
  return (
    <>
      <EmptyState kind="setup" title={texts.emptyTitle}>
        {texts.emptyText} <GuideLink page="monitors" />
      </EmptyState>
      {project === undefined ? null : (
        <div className={fitStyles.dialogBody}>
          <CommandBox title={texts.withCurl} code={firstCheckIn(project.dsn)} said={texts.copied} />
          <CommandBox
            title={texts.withSdk}
            code={checkInSnippet('node', EXAMPLE_JOB, project.dsn)}
            said={texts.copied}
          />
          <Minor as="p">{texts.emptyMore}</Minor>
        </div>
      )}
    </>
  )
}
