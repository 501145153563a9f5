/** Texts of frames that the first page does not need. */
export const frameTexts = {
  noProject: 'No projects yet',
  noProjectMore: 'Create a project and add its SDK to see figures here.',
  createProject: 'Create a project',
  chooseProject: 'Choose a project',
  forRole: (role: string) => `This page is for the ${role} role`,
  forRoleMore: 'Ask an owner of your organisation to change your role.',
} as const
