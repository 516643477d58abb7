/** Stream of results and progress of edge commands. */
export const edgeResultsStream = 'edge_results';
